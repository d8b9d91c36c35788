/** A deliberate mistake in the check: replacements of one text each in files of src. */
export interface PlantedMistake {
  readonly title: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

/** The oracle must find a leak in an engine with any of these. They know the code: whoever changes it adapts them. */
export const plantedMistakes: readonly PlantedMistake[] = [];
