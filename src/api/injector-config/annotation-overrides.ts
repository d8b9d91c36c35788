/** What authors of pods may use to change more than values: with `Istio` everything, with `Safe` what is allowed. */
export interface AnnotationOverrides {
  readonly preset: 'Safe' | 'Istio';
  /** Names of annotations and labels; one that ends in `*` stands for all that begin so. */
  readonly allow: readonly string[];
}

/** Istio's own behaviour: what a configuration in its format means that says nothing else. */
export const istioOverrides: AnnotationOverrides = { preset: 'Istio', allow: [] };

/** A name of `allow`: an annotation or label, or the beginning of one and `*`. */
export const annotationPattern = /^[A-Za-z0-9][-A-Za-z0-9_./]*[*]?$/;
