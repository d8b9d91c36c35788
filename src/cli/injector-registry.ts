import type { Injector } from '../inject/injector.ts';

/** The compiled injectors of a replica by InjectorConfig and configuration hash: filled by the operator's replica, read by the server for each admission. */
export class InjectorRegistry {
  readonly #byName = new Map<string, Map<string, Injector>>();

  get(name: string, hash8: string): Injector | undefined {
    return this.#byName.get(name)?.get(hash8);
  }

  set(name: string, hash8: string, injector: Injector): void {
    const hashes = this.#byName.get(name) ?? new Map<string, Injector>();
    this.#byName.set(name, hashes.set(hash8, injector));
  }

  delete(name: string, hash8: string): void {
    const hashes = this.#byName.get(name);
    if (hashes?.delete(hash8) && hashes.size === 0) this.#byName.delete(name);
  }
}
