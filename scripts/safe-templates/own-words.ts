/** The words of a template, which no author wrote. */
export interface TemplateWords {
  /** Reports whether the template has the word. */
  readonly has: (word: string) => boolean;
  /** Reports whether the template has `--flag=`, with any value. */
  readonly hasFlag: (flag: string) => boolean;
}

/** The words in a template's texts between actions, and in the string constants of actions. */
export class OwnWords implements TemplateWords {
  readonly #words = new Set<string>();
  readonly #flags = new Set<string>();

  /** @param further words that the engine may add */
  constructor(template: string, further: readonly string[] = []) {
    for (const word of further) this.#words.add(word);
    let end = 0;
    for (const action of template.matchAll(/\{\{[^]*?\}\}/g)) {
      this.#addText(template.slice(end, action.index));
      for (const [, quoted, raw] of action[0].matchAll(/"((?:[^"\\]|\\.)*)"|`([^`]*)`/g)) {
        const constant = quoted ?? raw ?? '';
        this.#words.add(constant.trim());
        this.#addFlags(constant);
        // A constant may be a list or structure: add its words.
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

  /** Adds arguments that are injected without an author, and so contain no text of an author. */
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
    // An action may extend the last word. Otherwise the word belongs to the template.
    for (const word of words) this.#words.add(word.replace(/:$/, ''));
  }

  #addFlags(text: string): void {
    for (const [, flag] of text.matchAll(/(?:^|[\s"'[,])(--?[A-Za-z0-9][\w.-]*=)/g)) this.#flags.add(flag!);
  }
}
