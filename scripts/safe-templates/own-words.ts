/** What is the template's own and no author's. */
export interface TemplateWords {
  /** Whether the template has the word. */
  readonly has: (word: string) => boolean;
  /** Whether the template has `--flag=`, with whatever value. */
  readonly hasFlag: (flag: string) => boolean;
}

/** What a template says itself: its texts between actions, and the string constants in actions. */
export class OwnWords implements TemplateWords {
  readonly #words = new Set<string>();
  readonly #flags = new Set<string>();

  /** @param given further words that are not the author's: of the pod, of the engine */
  constructor(template: string, given: readonly string[] = []) {
    for (const word of given) this.#words.add(word);
    let end = 0;
    for (const action of template.matchAll(/\{\{[^]*?\}\}/g)) {
      this.#addText(template.slice(end, action.index));
      for (const [, quoted, raw] of action[0].matchAll(/"((?:[^"\\]|\\.)*)"|`([^`]*)`/g)) {
        const constant = quoted ?? raw ?? '';
        this.#words.add(constant.trim());
        this.#addFlags(constant);
        // A list or a structure as text: its words are the template's too.
        for (const word of constant.split(/[\s,"'[\]{}]+|\\n|%[a-z]/)) this.#words.add(word);
      }
      end = action.index + action[0].length;
    }
    this.#addText(template.slice(end));
  }

  has(word: string): boolean {
    return this.#words.has(word);
  }

  hasFlag(flag: string): boolean {
    return this.#flags.has(flag);
  }

  /** Adds what is injected without any author: nobody else's words are in it. */
  addArguments(args: readonly string[]): void {
    for (const text of args) {
      this.#words.add(text);
      this.#addFlags(text);
    }
  }

  #addText(text: string): void {
    this.#words.add(text.trim());
    this.#addFlags(text);
    const words = text.split(/[\s,"'[\]{}]|: /);
    // A word that an action may complete is the template's own where nothing completes it.
    for (const word of words) this.#words.add(word.replace(/:$/, ''));
  }

  #addFlags(text: string): void {
    for (const [, flag] of text.matchAll(/(?:^|[\s"'[,])(--?[A-Za-z0-9][\w.-]*=)/g)) this.#flags.add(flag!);
  }
}
