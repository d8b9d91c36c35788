/**
 * What passes remember of each object: one record per key (see `tagKey`), which is dropped as a
 * whole. Each part of a pass declares the optional fields that it keeps in the record. A restart
 * loses all records.
 */
export class PassMemory<Fields extends object> {
  readonly #records = new Map<string, Fields>();

  /** Returns the record of a key, to read it; empty if there is none. */
  read(key: string): Readonly<Fields> {
    return this.#records.get(key) ?? ({} as Fields);
  }

  /** Returns the record of a key, to change it. */
  of(key: string): Fields {
    const record = this.read(key);
    this.#records.set(key, record);
    return record;
  }

  forget(key: string): void {
    this.#records.delete(key);
  }
}
