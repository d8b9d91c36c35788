import type { CanonicalItems } from '../kubernetes/typed-pod.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { Pod } from '../pod/pod.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { emptyPod, overlayPod } from './overlay.ts';

/** A template's output, read. */
export interface TemplateOutput {
  /** A part of a pod, or a SidecarInjectionSpec. */
  readonly content: JsonObject;
  /** Its content on an empty pod; read on first use. */
  readonly onEmptyPod: () => Pod;
  /** The items of its lists, as far as they have been read. */
  readonly items: CanonicalItems;
}

/** Enough for the workloads that are being rolled out at one time. */
const capacity = 32;
/** Longer texts are read anew: a pod's author has a say in how long they are. */
const longestRemembered = 65_536;

/**
 * Reads what templates render, and remembers the last texts: the pods of one workload differ in their names only, so their templates mostly
 * render the same. What is remembered is shared between results and must not be changed.
 */
export class TemplateOutputs {
  readonly #known = new Map<string, TemplateOutput>();
  /** The one used last: mostly it is the next one too, and a map that is changed with every pod is made anew all the time. */
  #last: { readonly text: string; readonly output: TemplateOutput } | undefined;

  /**
   * @throws YamlError when the text is no YAML
   * @returns `undefined` when the text is no object; one without members for nothing but comments and space
   */
  read(text: string): TemplateOutput | undefined {
    if (this.#last?.text === text) return this.#last.output;
    const known = this.#known.get(text);
    if (known !== undefined) {
      // The last one used is the last one forgotten.
      this.#known.delete(text);
      this.#known.set(text, known);
      this.#last = { text, output: known };
      return known;
    }
    const content = parseYaml(text) ?? {};
    if (!isJsonObject(content)) return undefined;
    let templatePod: Pod | undefined;
    const items: CanonicalItems = new Map();
    const onEmptyPod = (): Pod => (templatePod ??= overlayPod(emptyPod, content, items));
    const output: TemplateOutput = { content, onEmptyPod, items };
    if (text.length > longestRemembered) return output;
    this.#known.set(text, output);
    this.#last = { text, output };
    const [oldest] = this.#known.keys();
    if (this.#known.size > capacity && oldest !== undefined) this.#known.delete(oldest);
    return output;
  }

  /** What a text says, where that is remembered; it is no reason to remember it longer. */
  known(text: string): TemplateOutput | undefined {
    return this.#last?.text === text ? this.#last.output : this.#known.get(text);
  }

  /** What is remembered: texts, and what each says. */
  all(): ReadonlyMap<string, JsonObject> {
    return new Map([...this.#known].map(([text, { content }]) => [text, content]));
  }

  /** Lets go of all texts: pods that were only for trial are not remembered. */
  forget(): void {
    this.#known.clear();
    this.#last = undefined;
  }
}
