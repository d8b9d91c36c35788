import type { AnnotationOverrides } from '../../api/injector-config/annotation-overrides.ts';
import { parseTemplate } from '../../template/parse/parser.ts';
import { SourceText } from '../../template/parse/source-text.ts';
import type { Steps } from '../../steps/steps.ts';
import type { Family } from '../configuration/family.ts';
import { functionsOfFamily } from '../../template/functions/go/function-families.ts';
import { builtins } from '../../template/functions/go/builtins.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { proxyConfigAnnotation } from '../mesh/proxy-config.ts';
import type { OwnWords } from './arguments.ts';
import { authorReads, type AuthorReads } from './author-reads.ts';
import { matchesName, structuralReason } from './structural-annotations.ts';
import { templateReads, type TemplateReads } from './template-reads.ts';
import type { Difference } from './value-paths.ts';

/** The restrictions on pod authors, computed once per configuration. Absent under preset Istio. */
export interface AuthorGuard {
  /** Returns the combined reads of the named templates. */
  readonly readsOf: (templates: readonly string[]) => AuthorReads;
  readonly allows: (name: string) => boolean;
  /** Returns why an annotation is structural; `undefined` if it is allowed or not structural. */
  readonly structural: (name: string) => string | undefined;
  readonly ownWords: OwnWords;
  readonly passed: PassedComparisons;
  readonly sameName: { readonly action: 'Refuse' | 'Warn'; readonly fields: ReadonlySet<string> };
}

/** The annotations that the engine itself reads for a proxy. */
const engineReads = [proxyConfigAnnotation];
const maxCachedReads = 64;

/** Analyzes which data the templates of a configuration read. The templates must be valid. */
export function* authorGuard(
  templates: ReadonlyMap<string, string>,
  delimiters: readonly [string, string],
  family: Family,
  { allow, sameName = 'Refuse', sameNameFields = [] }: AnnotationOverrides,
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
        // Bound the cache: authors who may choose templates can name many combinations.
        if (known.size < maxCachedReads) known.set(key, reads);
      }
      return reads;
    },
    allows,
    ownWords,
    passed: new PassedComparisons(),
    sameName: { action: sameName, fields: new Set(sameNameFields) },
    structural: (name) => (allows(name) ? undefined : structuralReason(name)),
  };
}

/** The number of characters per step (see {@link Steps}). */
const charactersPerStep = 16_384;

/** Returns the words of texts: runs of letters, digits, `_`, `.` and `-`. */
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

/** The kind of the rendering with which the pod's rendering is compared. */
export type ComparisonKind = 'without' | 'other' | 'counterpart' | 'allowed';

interface PassedComparison {
  readonly kind: ComparisonKind;
  /** The contents of all templates. The first content is the cache key. */
  readonly contents: readonly JsonObject[];
  /** The texts of the other rendering, one per template. */
  readonly texts: readonly string[];
  /** The result, which has no forbidden path. */
  readonly difference: Difference;
}

/** The maximum number of comparisons to cache per content. */
const mostComparisons = 8;
/** The maximum total length of an entry's texts, which pod authors influence, in characters. */
const longestTexts = 65_536;

/**
 * Caches passed comparisons. A comparison depends only on two renderings, which are equal for all
 * pods of a workload. Entries live as long as the rendered content (see `TemplateOutputs`).
 * Templates still run for every pod.
 */
export class PassedComparisons {
  readonly #byContent = new WeakMap<JsonObject, PassedComparison[]>();

  /** @param contents the contents rendered for the pod; equal texts share one object */
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

/** Reports whether two renderings are equal; compares contents by identity. */
export function areSame<Part>(left: readonly Part[], right: readonly Part[]): boolean {
  return left.length === right.length && left.every((part, index) => part === right[index]);
}
