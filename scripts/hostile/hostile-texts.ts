import { readFileSync } from 'node:fs';
import type { Random } from '../template-recorder/random.ts';

/** The parts of hostile texts, for all scripts. */
export const hostileData = JSON.parse(readFileSync(new URL('texts.json', import.meta.url), 'utf8')) as {
  /** YAML lines with which an attacker extends a pod. */
  readonly additions: readonly (readonly string[])[];
  readonly fragments: Readonly<Record<string, readonly string[]>>;
  /** Texts with a meaning in YAML, Go, JSON, a shell, the kubelet, or a template. */
  readonly words: readonly string[];
  /** Ordinary texts. */
  readonly plain: readonly string[];
  /** Texts that are slow to parse when repeated. The texts in `usual` find most mistakes. */
  readonly repeated: readonly string[];
  readonly usual: readonly string[];
  /** Literals for templates, and formats for `printf`. */
  readonly literals: readonly string[];
  readonly formats: readonly string[];
  /** Annotations that the engine or another family reads, their values, and long annotations. */
  readonly engineAnnotations: readonly string[];
  readonly engineTexts: readonly string[];
  readonly longAnnotations: readonly string[];
};
const { additions, fragments } = hostileData;
const kinds = Object.keys(fragments);

/** A source of texts that try to escape from their field. */
export class HostileTexts {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): string {
    switch (this.#random.below(8)) {
      case 0:
        return this.#fragment();
      case 1:
        return `${this.#start()}${this.#fragment()}`;
      case 2:
        return `${this.#fragment()}${this.#start()}${this.#fragment()}`;
      case 3:
        return [this.#fragment(), this.#fragment(), this.#fragment()].join(
          this.#random.pick(['', ' ', 'x', '\n', '": "']),
        );
      case 4:
        return `${this.#start()}${'x '.repeat(this.#random.below(40) === 0 ? 20_000 : this.#random.below(200))}${this.#fragment()}`;
      default:
        return `${this.#start()}${this.#random.pick(['', '"', "'", '",', '}', ']', '" }', "' #"])}${this.#lines()}${this.#random.pick(['', '', ' #', '\n', ' "', '\n  x: "', ' |'])}`;
    }
  }

  #start(): string {
    return this.#random.pick(['', 'x', 'a', '80', 'true', 'debug']);
  }

  #fragment(): string {
    return this.#random.pick(fragments[this.#random.pick(kinds)] ?? []);
  }

  /** Returns YAML lines with a random indentation. */
  #lines(): string {
    const indent = ' '.repeat(2 * this.#random.below(9));
    const end = this.#random.pick(['\n', '\n', '\n', '\r\n', '\r', '\u0085', '\u2028']);
    return this.#random
      .pick(additions)
      .map((line) => `${end}${indent}${line}`)
      .join('');
  }
}
