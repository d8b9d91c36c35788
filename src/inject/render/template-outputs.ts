import type { CanonicalItems } from '../kubernetes/typed-pod.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { Pod } from '../pod/pod.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { emptyPod, overlayPod } from './overlay.ts';

/** A parsed output of a template. */
export interface TemplateOutput {
  readonly text: string;
  /** A part of a pod, or a SidecarInjectionSpec. */
  readonly content: JsonObject;
  /** Returns the content merged onto an empty pod; computed on first use. */
  readonly onEmptyPod: () => Pod;
  /** The list items parsed so far. */
  readonly items: CanonicalItems;
}

/** The maximum number of repeated texts, for the workloads that roll out at the same time. */
const capacity = 32;
/** The maximum number of texts that were used once; more would reach V8's old generation. */
const freshCapacity = 4;
/** The maximum length of cached texts, which authors influence, in characters. */
const maxCachedLength = 65_536;

/**
 * Parses template outputs and caches recent ones: the pods of a workload mostly render the same
 * text. Results are shared; callers must not change them.
 */
export class TemplateOutputs {
  /** The texts that were used more than once. */
  readonly #known = new Map<string, TemplateOutput>();
  /** A ring buffer of the other texts; V8 would keep the contents of a map's old tables alive. */
  #fresh: TemplateOutput[] = [];
  #nextFresh = 0;
  /** The text in `#known` that was used last; usually the next text is the same. */
  #last: TemplateOutput | undefined;

  /**
   * @throws YamlError for invalid YAML
   * @returns `undefined` if the text is not an object; an empty object for comments and space
   */
  read(text: string): TemplateOutput | undefined {
    if (this.#last?.text === text) return this.#last;
    const known = this.known(text);
    if (known !== undefined) {
      // Move to the end: the map evicts its first entry.
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
    if (text.length > maxCachedLength) return output;
    this.#fresh[this.#nextFresh] = output;
    this.#nextFresh = (this.#nextFresh + 1) % freshCapacity;
    return output;
  }

  /** Returns the cached output of a text without refreshing it. */
  known(text: string): TemplateOutput | undefined {
    return this.#known.get(text) ?? this.#fresh.find((one) => one.text === text);
  }

  /** Returns all cached texts and contents. */
  all(): ReadonlyMap<string, JsonObject> {
    return new Map([...this.#fresh, ...this.#known.values()].map(({ text, content }) => [text, content]));
  }

  /** Clears the cache, for example after a trial. */
  forget(): void {
    this.#known.clear();
    this.#fresh = [];
    this.#nextFresh = 0;
    this.#last = undefined;
  }
}
