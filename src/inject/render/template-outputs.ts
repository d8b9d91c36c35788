import type { CanonicalItems } from '../kubernetes/typed-pod.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { Pod } from '../pod/pod.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { emptyPod, overlayPod } from './overlay.ts';

/** A template's output, read. */
export interface TemplateOutput {
  readonly text: string;
  /** A part of a pod, or a SidecarInjectionSpec. */
  readonly content: JsonObject;
  /** Its content on an empty pod; read on first use. */
  readonly onEmptyPod: () => Pod;
  /** The items of its lists, as far as they have been read. */
  readonly items: CanonicalItems;
}

/** Enough for the workloads that are being rolled out at one time. */
const capacity = 32;
/** Of texts that came once: more would live until they enter the old generation, which costs. */
const freshCapacity = 4;
/** Longer texts are read anew: a pod's author has a say in how long they are. */
const longestRemembered = 65_536;

/**
 * Reads what templates render, and remembers the last texts: the pods of one workload differ in their names only, so their templates mostly
 * render the same. What is remembered is shared between results and must not be changed.
 */
export class TemplateOutputs {
  /** Those that were used again. */
  readonly #known = new Map<string, TemplateOutput>();
  /** The last of the others. No map: a table that V8 has replaced still keeps alive what it holds. */
  #fresh: TemplateOutput[] = [];
  #nextFresh = 0;
  /** Of the known ones that used last: mostly it is the next one too. */
  #last: TemplateOutput | undefined;

  /**
   * @throws YamlError when the text is no YAML
   * @returns `undefined` when the text is no object; one without members for nothing but comments and space
   */
  read(text: string): TemplateOutput | undefined {
    if (this.#last?.text === text) return this.#last;
    const known = this.known(text);
    if (known !== undefined) {
      // The last one used is the last one forgotten.
      this.#known.delete(text);
      this.#known.set(text, known);
      const [oldest] = this.#known.keys();
      if (this.#known.size > capacity && oldest !== undefined) this.#known.delete(oldest);
      this.#last = known;
      return known;
    }
    const content = parseYaml(text) ?? {};
    if (!isJsonObject(content)) return undefined;
    let templatePod: Pod | undefined;
    const items: CanonicalItems = new Map();
    const onEmptyPod = (): Pod => (templatePod ??= overlayPod(emptyPod, content, items));
    const output: TemplateOutput = { text, content, onEmptyPod, items };
    if (text.length > longestRemembered) return output;
    this.#fresh[this.#nextFresh] = output;
    this.#nextFresh = (this.#nextFresh + 1) % freshCapacity;
    return output;
  }

  /** What a text says, where that is remembered; it is no reason to remember it longer. */
  known(text: string): TemplateOutput | undefined {
    return this.#known.get(text) ?? this.#fresh.find((one) => one.text === text);
  }

  /** What is remembered: texts, and what each says. */
  all(): ReadonlyMap<string, JsonObject> {
    return new Map([...this.#fresh, ...this.#known.values()].map(({ text, content }) => [text, content]));
  }

  /** Lets go of all texts: pods that were only for trial are not remembered. */
  forget(): void {
    this.#known.clear();
    this.#fresh = [];
    this.#nextFresh = 0;
    this.#last = undefined;
  }
}
