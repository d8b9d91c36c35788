import type { Steps } from '../../template/steps.ts';

/** The words that stand in the texts of an administrator: templates and values. */
export type OwnWords = ReadonlySet<string>;

/** Characters that are read in one step, see {@link Steps}. */
const charactersPerStep = 16_384;

/** The words of some texts: runs of letters, digits, `_`, `.` and `-`. */
export function* ownWords(texts: Iterable<string>): Steps<OwnWords> {
  const words = new Set<string>();
  for (const text of texts) {
    let read = 0;
    for (const match of text.matchAll(/[\w.-]+/g)) {
      words.add(match[0]);
      if (match.index < read + charactersPerStep) continue;
      read = match.index;
      yield;
    }
  }
  return words;
}
