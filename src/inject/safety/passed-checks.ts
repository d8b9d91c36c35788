import type { JsonObject } from '../patch/json-value.ts';
import type { AuthorInput } from './author-inputs.ts';
import type { Replacement } from './check-author-inputs.ts';
import { attempt } from './narrow.ts';

/** What templates render for the pod at hand with the texts of some inputs replaced, one text for each template. @throws InjectionFailure */
export type RenderTexts = (inputs: readonly AuthorInput[], replace: Replacement) => readonly string[];

/** One rendering that a check has compared the pod's own with. */
interface Comparison {
  readonly inputs: readonly AuthorInput[];
  readonly replace: Replacement;
  /** Absent when the templates refused it. */
  readonly texts: readonly string[] | undefined;
}

/** A check that a pod has passed. */
interface PassedCheck {
  /** Of all templates; the first is what it is found by. Held weakly: what is too long to be remembered is not kept here either. */
  readonly contents: readonly WeakRef<JsonObject>[];
  /** All that the check knows of the inputs. */
  readonly inputs: string;
  readonly comparisons: readonly Comparison[];
}

/** Of one content: pods whose templates render the same may differ in inputs that do not show. */
const mostChecks = 4;
/** Characters of the inputs, and of all rendered texts of a check together; longer ones are checked anew, since a pod's author has a say in how long they are. */
const longestInputs = 65_536;
const longestTexts = 131_072;

/**
 * The pods of one workload differ in little that templates read, so their checks would read and compare the same texts again and again. A check depends on nothing but what was rendered for
 * the pod, its inputs, and what was rendered for comparison. So where all of these are the same as in a check that was passed, to the last character, it is passed again. The templates are executed for
 * this pod all the same; nothing is assumed of what they read. Only passed checks are remembered, as long as what was rendered is (see `TemplateOutputs`).
 */
export class PassedChecks {
  readonly #byContent = new WeakMap<JsonObject, PassedCheck[]>();

  /**
   * @param contents what was rendered for the pod: the same object for the same text
   * @param check compares, by the renderings that it is given
   * @throws what `check` throws
   */
  checkOnce(
    contents: readonly JsonObject[],
    inputs: readonly AuthorInput[],
    render: RenderTexts,
    check: (render: RenderTexts) => void,
  ): void {
    const [first] = contents;
    const wanted = JSON.stringify(inputs);
    if (first === undefined || wanted.length > longestInputs) {
      check(render);
      return;
    }
    const known = this.#byContent.get(first) ?? [];
    const same = known.find((one) => one.inputs === wanted && areHeld(one.contents, contents));
    if (same?.comparisons.every((comparison) => comesOutAgain(comparison, render)) === true) return;
    const comparisons: Comparison[] = [];
    check((some, replace) => {
      const comparison = { inputs: some, replace, texts: undefined };
      comparisons.push(comparison);
      const texts = render(some, replace);
      comparisons[comparisons.length - 1] = { ...comparison, texts };
      return texts;
    });
    const lengths = comparisons.flatMap(({ texts = [] }) => texts.map((text) => text.length));
    if (lengths.reduce((sum, length) => sum + length, 0) > longestTexts) return;
    const others = known.filter((one) => one !== same).slice(0, mostChecks - 1);
    this.#byContent.set(first, [
      { contents: contents.map((content) => new WeakRef(content)), inputs: wanted, comparisons },
      ...others,
    ]);
  }
}

function comesOutAgain({ inputs, replace, texts }: Comparison, render: RenderTexts): boolean {
  const again = attempt(() => render(inputs, replace));
  return again === undefined ? texts === undefined : texts !== undefined && areSame(texts, again);
}

function areHeld(held: readonly WeakRef<JsonObject>[], contents: readonly JsonObject[]): boolean {
  return held.length === contents.length && held.every((one, index) => one.deref() === contents[index]);
}

function areSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
