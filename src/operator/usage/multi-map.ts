/** Several values to a key. */
export class MultiMap<K, V> {
  readonly #values = new Map<K, Set<V>>();

  get(key: K): Iterable<V> {
    return this.#values.get(key) ?? [];
  }

  has(key: K): boolean {
    return this.#values.has(key);
  }

  add(key: K, value: V): void {
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, new Set([value]));
    else values.add(value);
  }

  delete(key: K, value: V): void {
    const values = this.#values.get(key);
    values?.delete(value);
    if (values?.size === 0) this.#values.delete(key);
  }
}
