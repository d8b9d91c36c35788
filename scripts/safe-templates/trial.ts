import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { Random } from '../template-recorder/random.ts';
import { AuthorTexts } from './author-texts.ts';
import { barePod, engineWords, podOf, randomAuthor, type Author } from './author.ts';
import { forbiddenDifference } from './compare-pods.ts';
import { Expressions } from './expressions.ts';
import type { Figures } from './figures.ts';
import { OwnWords } from './own-words.ts';
import { LoadedTemplate, type Subject } from './subject.ts';
import { podTemplate } from './template-parts.ts';
import { TemplateSlots } from './template-slots.ts';

/** A difference that the rule forbids but the check accepts. */
export interface Leak {
  readonly template: string;
  readonly author: Author;
  /** The author of the reference; undefined for the pod without annotations and labels. */
  readonly other?: Author;
  readonly path: string;
}

const podsPerTemplate = 3;
/** The interval between templates whose pods are all checked, even without a difference. */
const sample = 8;

/** Returns the source of random choices for template number `index`. */
export function randomOf(seed: number, index: number): Random {
  return new Random((Math.imul(seed, 0x9e3779b1) + Math.imul(index + 1, 0x85ebca6b)) >>> 0);
}

/** Returns template number `index`, and its authors. Equal seeds give equal results. */
export function casesOf(
  seed: number,
  index: number,
): { readonly template: string; readonly authors: readonly Author[] } {
  const random = randomOf(seed, index);
  const template = randomTemplate(random);
  const texts = new AuthorTexts(random);
  const authors = Array.from({ length: podsPerTemplate }, () => randomAuthor(random, template, texts));
  return { template, authors };
}

/** Tries template number `index`. */
export function tryNumber(subject: Subject, seed: number, index: number, figures: Figures): Leak | undefined {
  const { template, authors } = casesOf(seed, index);
  const trial = new Trial(subject, template, figures);
  if (index % sample === 0) trial.sample(authors);
  return trial.leak(authors);
}

/** An author, and the pod that is injected without the check. */
interface Injected {
  readonly author: Author;
  readonly pod: JsonObject;
}

/** A template in an engine. */
export class Trial {
  readonly #template: string;
  readonly #loaded: LoadedTemplate;
  readonly #figures: Figures;
  readonly #injected = new Map<Author, JsonObject | undefined>();
  readonly #accepted = new Map<Author, JsonObject | undefined>();
  #reference: { readonly pod: JsonObject | undefined } | undefined;

  constructor(subject: Subject, template: string, figures: Figures) {
    this.#template = template;
    this.#loaded = new LoadedTemplate(subject, template);
    this.#figures = figures;
  }

  /** Returns the first leak. The reference has no author; if it fails, it has another author. */
  leak(authors: readonly Author[]): Leak | undefined {
    const figures = this.#figures;
    const words = new OwnWords(this.#template, engineWords);
    const reference = this.#withoutAuthor();
    const rendered = this.#rendered(authors.filter((author) => isComparable(author, reference)));
    if (reference !== undefined) words.addArguments(argumentsOf(reference));
    figures.templates += 1;
    figures.pods += authors.length;
    if (reference !== undefined || rendered.length > 0) figures.rendered += 1;
    for (const [index, one] of rendered.entries()) {
      const { author } = one;
      if (reference !== undefined) {
        const path = this.#firstDifference(one, reference, words);
        if (path === undefined) continue;
        figures.forbidden += 1;
        const pod = this.#accept(one);
        // In a pod that claims an earlier injection, the template's elements replace the pod's.
        if (pod !== undefined && this.#firstDifference({ author, pod }, reference, words) !== undefined)
          return { template: this.#template, author, path };
        continue;
      }
      for (const other of rendered.slice(0, index)) {
        const path = this.#firstDifference(one, other.pod, words);
        if (path === undefined) continue;
        figures.forbidden += 1;
        if (this.#accept(one) !== undefined && this.#accept(other) !== undefined) {
          return { template: this.#template, author, other: other.author, path };
        }
      }
    }
    return undefined;
  }

  /** Counts how many of all pods the check accepts. */
  sample(authors: readonly Author[]): void {
    const figures = this.#figures;
    for (const one of this.#rendered(authors)) {
      figures.sampled += 1;
      if (this.#accept(one) === undefined) continue;
      figures.sampledAccepted += 1;
      const reference = this.#withoutAuthor();
      if (reference === undefined || shownOf(one.pod) !== shownOf(reference)) figures.sampledVisible += 1;
    }
  }

  /** A name that other authors' texts also yield counts as the template's, as in `3 | seq`. */
  #firstDifference({ author, pod }: Injected, reference: JsonObject, words: OwnWords): string | undefined {
    let made: ReadonlySet<string> | undefined;
    const has = (name: string): boolean => {
      if (words.has(name)) return true;
      made ??= namesOfAll(this.#rendered(counterpartsOf(author)).map((counterpart) => counterpart.pod));
      return made.has(name);
    };
    return forbiddenDifference(pod, reference, { has, hasFlag: (flag) => words.hasFlag(flag) });
  }

  #rendered(authors: readonly Author[]): Injected[] {
    return authors.flatMap((author) => {
      if (!this.#injected.has(author)) this.#injected.set(author, this.#inject(podOf(author)));
      const pod = this.#injected.get(author);
      return pod === undefined ? [] : [{ author, pod }];
    });
  }

  #withoutAuthor(): JsonObject | undefined {
    this.#reference ??= { pod: this.#inject(barePod) };
    return this.#reference.pod;
  }

  #inject(pod: JsonObject): JsonObject | undefined {
    const result = this.#loaded.inject('Istio', pod);
    return result.outcome === 'injected' ? result.pod : undefined;
  }

  /** Returns undefined for a refused pod. @throws Error if the check fails or changes the pod */
  #accept({ author, pod }: Injected): JsonObject | undefined {
    if (this.#accepted.has(author)) return this.#accepted.get(author);
    const result = this.#loaded.inject('Safe', podOf(author));
    if (result.outcome === 'failed' && result.reason === 'Internal') throw new Error(result.message);
    const accepted = result.outcome === 'injected' ? result.pod : undefined;
    this.#accepted.set(author, accepted);
    this.#figures.checked += 1;
    this.#figures[accepted === undefined ? 'refused' : 'accepted'] += 1;
    // A shared element has all fields that Go always encodes.
    if (accepted !== undefined && author.element === undefined && JSON.stringify(accepted) !== JSON.stringify(pod)) {
      throw new Error(`the check accepted, but changed, the pod of ${JSON.stringify(author)}:\n${this.#template}`);
    }
    return accepted;
  }
}

/** Reports whether the template adds an element with the name of the author's element, if any. */
function isComparable({ element: [list, { name }] = ['', {}] }: Author, reference: JsonObject | undefined): boolean {
  const volumes = (reference?.spec as { readonly volumes?: readonly JsonObject[] } | undefined)?.volumes ?? [];
  const added = reference === undefined ? [] : list === 'volumes' ? volumes : containersOf(reference);
  return name === undefined || added.some((one) => one.name === name);
}

/** Returns copies of an author with other texts: letters that no template has, digits, no text. */
function counterpartsOf({ annotations, labels }: Author): Author[] {
  const withText = (record: Readonly<Record<string, string>>, text: string): Record<string, string> =>
    Object.fromEntries(Object.keys(record).map((name) => [name, text]));
  return ['zq7x4k', '7419', ''].map((text) => ({
    annotations: withText(annotations, text),
    labels: withText(labels, text),
  }));
}

/** Returns the names of the variables and resources of all containers. */
function namesOfAll(pods: readonly JsonObject[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const container of pods.flatMap(containersOf)) {
    const { env, resources } = container as Readonly<Record<string, unknown>>;
    for (const variable of Array.isArray(env) ? (env as JsonObject[]) : []) names.add(String(variable.name));
    const { limits, requests } = (resources ?? {}) as Readonly<Record<string, JsonObject | null | undefined>>;
    for (const name of [limits, requests].flatMap((map) => Object.keys(map ?? {}))) names.add(name);
  }
  return names;
}

function containersOf({ spec }: JsonObject): JsonObject[] {
  const { containers, initContainers } = spec as Readonly<Record<string, readonly JsonObject[] | null | undefined>>;
  return [...(containers ?? []), ...(initContainers ?? [])];
}

function argumentsOf(pod: JsonObject): string[] {
  return containersOf(pod).flatMap(({ args }) => (Array.isArray(args) ? args.map(String) : []));
}

/** Returns the parts that may show an author's text: the spec, and the template's metadata. */
function shownOf({ spec, metadata }: JsonObject): string {
  const { annotations, labels } = metadata as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;
  return JSON.stringify([spec, annotations?.['example.com/made'], labels?.['example.com/made']]);
}

/** Returns a template that depends on the author of a pod. */
function randomTemplate(random: Random): string {
  for (;;) {
    const expressions = new Expressions(random);
    const opening = random.chance(0.2) ? prelude(random, expressions) : '';
    const slots = new TemplateSlots(random, expressions, random.pick([0.3, 0.5]));
    const template = podTemplate(slots, opening);
    if (slots.hot > 0) return template;
  }
}

/** Returns actions that assign a text of the author to a variable. */
function prelude(random: Random, expressions: Expressions): string {
  const condition = expressions.operand('bool', 1);
  const text = expressions.operand('text', 1);
  const lines = random.pick([
    `{{- $x := ${text} }}`,
    `{{- $x := "own" }}{{- if ${condition} }}{{ $x = ${text} }}{{ end }}`,
    `{{- $x := "own" }}{{- range $k, $v := $.ObjectMeta.Annotations }}{{ if eq $k "example.com/a" }}{{ $x = $v }}{{ break }}{{ end }}{{ end }}`,
    `{{- $x := "own" }}{{- range $k, $v := $.ObjectMeta.Labels }}{{ if ne $k "team" }}{{ continue }}{{ end }}{{ $x = $v }}{{ end }}`,
    `{{- $d := dict }}{{- $_ := set $d "k" ${text} }}{{- $x := get $d "k" }}`,
    `{{- $d := dict "k" "own" }}{{- if ${condition} }}{{ $_ := unset $d "k" }}{{ end }}{{- $x := get $d "k" }}`,
    `{{- $x := "own" }}{{- with ${text} }}{{ $x = . }}{{ end }}`,
    `{{- $x := "" }}{{- range $i, $e := ${expressions.operand('list', 1)} }}{{ $x = print $x $e }}{{ end }}`,
  ]);
  if (random.chance(0.2)) return `{{- if ${condition} }}{{ fail ${text} }}{{ end }}\n`;
  expressions.scope.variables.push({ name: '$x', kind: 'text' });
  return `${lines}\n`;
}
