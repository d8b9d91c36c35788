import type { AnnotationOverrides } from '../../api/injector-config/annotation-overrides.ts';
import { parseTemplate } from '../../template/parse/parser.ts';
import { SourceText } from '../../template/parse/source-text.ts';
import type { Steps } from '../../template/steps.ts';
import type { Family } from '../configuration/family.ts';
import { functionsOfFamily } from '../../template/functions/go/function-families.ts';
import { builtins } from '../../template/functions/go/builtins.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { proxyConfigAnnotation } from '../mesh/proxy-config.ts';
import type { OwnWords } from './arguments.ts';
import { authorReads, type AuthorReads } from './author-reads.ts';
import { matchesName, structuralReason } from './structural-annotations.ts';
import { templateReads, type TemplateReads } from './template-reads.ts';
import type { Difference } from './value-places.ts';

/** What a configuration holds against its pods' authors; found out once. Absent under preset Istio. */
export interface AuthorGuard {
  /** What the templates of these names read together. */
  readonly readsOf: (templates: readonly string[]) => AuthorReads;
  readonly allows: (name: string) => boolean;
  /** Why an annotation is structural, in a clause; `undefined` when it is not known to be, or the configuration allows it. */
  readonly structural: (name: string) => string | undefined;
  readonly ownWords: OwnWords;
  readonly passed: PassedComparisons;
}

/** What the engine itself reads for a proxy. */
const engineReads = [proxyConfigAnnotation];
const mostKnown = 64;

/** Finds out what the templates of a configuration read. They have been compiled before: their syntax is right. */
export function* authorGuard(
  templates: ReadonlyMap<string, string>,
  delimiters: readonly [string, string],
  family: Family,
  { allow }: AnnotationOverrides,
  values: JsonObject,
): Steps<AuthorGuard> {
  const byName = new Map<string, TemplateReads>();
  for (const [name, text] of templates) {
    const definitions = yield* parseTemplate(new SourceText(name, text), {
      delimiters,
      isFunction: (called) => Object.hasOwn(functionsOfFamily('istio'), called) || Object.hasOwn(builtins, called),
      functionNames: () => [],
      unavailable: {},
    });
    byName.set(name, yield* templateReads(definitions, name));
  }
  const ownWords = yield* wordsOf([...templates.values(), JSON.stringify(values)]);
  const known = new Map<string, AuthorReads>();
  const allows = (name: string): boolean => allow.some((pattern) => matchesName(pattern, name));
  return {
    readsOf: (names) => {
      const key = JSON.stringify(names);
      let reads = known.get(key);
      if (reads === undefined) {
        const templatesReads = names.flatMap((name) => byName.get(name) ?? []);
        reads = authorReads(templatesReads, family.proxy ? engineReads : []);
        // Where authors choose templates they have a say in how many combinations there are.
        if (known.size < mostKnown) known.set(key, reads);
      }
      return reads;
    },
    allows,
    ownWords,
    passed: new PassedComparisons(),
    structural: (name) => (allows(name) ? undefined : structuralReason(name)),
  };
}

/** Characters that are read in one step, see {@link Steps}. */
const charactersPerStep = 16_384;

/** The words of some texts: runs of letters, digits, `_`, `.` and `-`. */
function* wordsOf(texts: Iterable<string>): Steps<OwnWords> {
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

/** What was rendered for comparison. */
export type ComparisonKind = 'without' | 'other' | 'twin' | 'allowed';

/** A comparison that a pod has passed. */
interface PassedComparison {
  readonly kind: ComparisonKind;
  /** Of all templates; the first is what it is found by. */
  readonly contents: readonly JsonObject[];
  /** The other rendering, a text for each template. */
  readonly texts: readonly string[];
  /** One that is allowed. */
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
    return known?.find((one) => one.kind === kind && areSame(one.texts, texts) && areSame(one.contents, contents))
      ?.difference;
  }

  remember(passed: PassedComparison): void {
    const [first] = passed.contents;
    if (first === undefined || passed.texts.reduce((sum, text) => sum + text.length, 0) > longestTexts) return;
    const known = this.#byContent.get(first) ?? [];
    this.#byContent.set(first, [passed, ...known.slice(0, mostComparisons - 1)]);
  }
}

/** Whether two renderings are the same: texts to the last character, contents the same objects. */
export function areSame<Part>(left: readonly Part[], right: readonly Part[]): boolean {
  return left.length === right.length && left.every((part, index) => part === right[index]);
}
