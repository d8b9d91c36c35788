/**
 * One at a time at the webhooks of an InjectorConfig. Its own pass writes the caBundle into every webhook that leads to it, and a rotation goes on from
 * what those trust; a tag that is moved there meanwhile with the bundle of a moment ago, or back by a write that was prepared before, would be
 * without trust.
 */
export class RevisionLocks {
  readonly #held = new Map<string, Promise<void>>();

  /** Waits for its turn at one InjectorConfig, then runs. */
  async hold<T>(name: string, run: () => Promise<T>): Promise<T> {
    for (let held = this.#held.get(name); held !== undefined; held = this.#held.get(name)) await held;
    return this.#run([name], run);
  }

  /** Runs when nobody is at any of them, and does not wait: undefined when somebody is. */
  tryHold<T>(names: readonly string[], run: () => Promise<T>): Promise<T> | undefined {
    return names.some((name) => this.#held.has(name)) ? undefined : this.#run(names, run);
  }

  async #run<T>(names: readonly string[], run: () => Promise<T>): Promise<T> {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    for (const name of names) this.#held.set(name, held);
    try {
      return await run();
    } finally {
      for (const name of names) this.#held.delete(name);
      release();
    }
  }
}
