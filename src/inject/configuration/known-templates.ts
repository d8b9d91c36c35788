import type { Template } from '../../template/template.ts';

/** The maximum number of contexts in the cache. The oldest context is evicted first. */
const capacity = 64;

/**
 * The compiled templates in use, by source text. After an edit, only changed templates are
 * compiled. Weak references allow the garbage collection of templates that are no longer served.
 */
export class KnownTemplates {
  readonly #byContext = new Map<string, ReadonlyMap<string, WeakRef<Template>>>();

  /**
   * Returns the compiled template of this text if a live configuration uses it.
   * @param context all other inputs of a template, such as the revision: the template's caches rely
   * on values that the pods of one revision share
   */
  find(context: string, text: string): Template | undefined {
    return this.#byContext.get(context)?.get(text)?.deref();
  }

  /** Replaces the templates of this context. */
  note(context: string, texts: ReadonlyMap<string, string>, compiled: ReadonlyMap<string, Template>): void {
    const known = new Map<string, WeakRef<Template>>();
    for (const [name, text] of texts) {
      const template = compiled.get(name);
      if (template !== undefined) known.set(text, new WeakRef(template));
    }
    this.#byContext.set(context, known);
    const [oldest] = this.#byContext.keys();
    if (this.#byContext.size > capacity && oldest !== undefined) this.#byContext.delete(oldest);
  }
}
