/** Counts words. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(word: string): void {
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  get counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => one.localeCompare(other)));
  }

  /** The words that occur less often, with their counts. */
  rarerThan(least: number, words: readonly string[]): string[] {
    return words.flatMap((word) => {
      const count = this.#counts.get(word) ?? 0;
      return count < least ? [`${word} ${count}`] : [];
    });
  }

  toString(): string {
    return Object.entries(this.counts)
      .map(([word, count]) => `${word} ${count}`)
      .join(', ');
  }
}
