import type { Injector } from '../inject/injector.ts';

/** The injectors in memory, filled by whoever watches the hashed ConfigMaps. */
export interface InjectorSource {
  /**
   * The injector of InjectorConfig `name` whose configuration has the hash.
   * Undefined also while nothing has been read yet: the request is then refused with 503, for another replica.
   */
  get(name: string, hash8: string): Injector | undefined;
}
