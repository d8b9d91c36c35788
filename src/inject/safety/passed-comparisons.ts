import type { JsonObject } from '../patch/json-value.ts';
import type { Difference } from './value-places.ts';

/** What was rendered for comparison. */
export type ComparisonKind = 'without' | 'other' | 'twin' | 'allowed';

/** A comparison that a pod has passed. */
interface PassedComparison {
  readonly kind: ComparisonKind;
  /** Of all templates; the first is what it is found by. Held weakly: what is too long to be remembered is not kept here either. */
  readonly contents: readonly WeakRef<JsonObject>[];
  /** The other rendering, a text for each template. */
  readonly texts: readonly string[];
  readonly difference: Difference;
}

/** Of one content: an author's texts may come out in other ways for comparison. */
const mostComparisons = 8;
/** Characters of the texts of one comparison; longer ones are compared again, since a pod's author has a say in how long they are. */
const longestTexts = 65_536;

/**
 * The pods of one workload come out as the same text, and so does what they are compared with; reading and comparing these again says the same, since a
 * comparison depends on nothing else. The templates are executed for every pod all the same. A comparison is remembered as long as what was rendered
 * for the pod is (see `TemplateOutputs`).
 */
export class PassedComparisons {
  readonly #byContent = new WeakMap<JsonObject, PassedComparison[]>();

  /** @param contents what was rendered for the pod: the same object for the same text */
  find(kind: ComparisonKind, contents: readonly JsonObject[], texts: readonly string[]): Difference | undefined {
    const [first] = contents;
    const known = first && this.#byContent.get(first);
    return known?.find((one) => one.kind === kind && areSame(one.texts, texts) && areHeld(one.contents, contents))
      ?.difference;
  }

  /** @param difference one that is allowed */
  remember(
    kind: ComparisonKind,
    contents: readonly JsonObject[],
    texts: readonly string[],
    difference: Difference,
  ): void {
    const [first] = contents;
    if (first === undefined || texts.reduce((sum, text) => sum + text.length, 0) > longestTexts) return;
    const known = this.#byContent.get(first) ?? [];
    const passed = { kind, contents: contents.map((content) => new WeakRef(content)), texts, difference };
    this.#byContent.set(first, [passed, ...known.slice(0, mostComparisons - 1)]);
  }
}

/** Whether two renderings are the same to the last character. */
export function areSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}

function areHeld(held: readonly WeakRef<JsonObject>[], contents: readonly JsonObject[]): boolean {
  return held.length === contents.length && held.every((one, index) => one.deref() === contents[index]);
}
