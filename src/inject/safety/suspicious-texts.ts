import { isJsonObject } from '../patch/json-value.ts';
import { lettersOf } from './harmless-text.ts';
import { mayHoldText, runsShell, script } from './scalar-places.ts';

/** Names of fields and most leaves are the same for every pod. */
const known = new Map<string, string>();
const mostKnown = 4096;
const longestKnown = 64;

/**
 * Of the letters of some texts those that stand, whole or with their beginning, in a name or where no author's text may; they may be there for
 * other reasons. This is done for every pod, so it goes over the tree once and makes nothing.
 */
export function suspiciousTexts(tree: unknown, texts: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const place: string[] = [];

  function leaf(text: string): void {
    const letters = knownLetters(text);
    for (const one of texts) {
      if (letters.includes(one.slice(0, 4)) && !found.has(one) && !mayHoldText(place)) found.add(one);
    }
  }

  function name(text: string): void {
    const letters = knownLetters(text);
    for (const one of texts) if (letters.includes(one)) found.add(one);
  }

  function visit(value: unknown): void {
    if (Array.isArray(value)) {
      place.push('[]');
      for (const item of value as unknown[]) visit(item);
      place.pop();
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) {
        name(key);
        place.push(key === 'args' && place.length === 3 && runsShell(value.command) ? script : key);
        visit(value[key]);
        place.pop();
      }
    } else if (value !== null && value !== undefined) {
      leaf(typeof value === 'string' ? value : JSON.stringify(value));
    }
  }

  visit(tree);
  return found;
}

function knownLetters(text: string): string {
  if (text.length > longestKnown) return lettersOf(text);
  let letters = known.get(text);
  if (letters === undefined) {
    letters = lettersOf(text);
    if (known.size >= mostKnown) known.clear();
    known.set(text, letters);
  }
  return letters;
}
