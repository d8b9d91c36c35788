import type { Template } from '../../template/template.ts';

/** So many configurations' templates are known; the one that came first is forgotten first. */
const capacity = 64;

/**
 * The compiled templates of configurations that are in use, by what they were compiled from: an edit compiles what it has changed and shares the rest
 * with the configuration before it. Nothing is kept alive here: what nobody serves any more is collected.
 */
export class KnownTemplates {
  readonly #byContext = new Map<string, ReadonlyMap<string, WeakRef<Template>>>();

  /**
   * The compiled template of this text, if a configuration that has it is still in use.
   * @param context everything else that a template's meaning, and what it remembers between pods, depends on: configurations of different revisions share
   * nothing, since pods that arrive in turn would make each forget what the other's have in common
   */
  find(context: string, text: string): Template | undefined {
    return this.#byContext.get(context)?.get(text)?.deref();
  }

  /** Takes the place of what was known in this context before. */
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
