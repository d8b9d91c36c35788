import type { GenerateKeyPair, KeyPair } from '../../certs/key-pair.ts';

/** The pool size: two keys for a new InjectorConfig (authority and leaf), two for repairs. */
const poolSize = 4;
/** The default key size of InjectorConfigs. */
const usualBits = 2048;

/**
 * Generates RSA keys of the default size in advance, since a key takes up to a second of CPU time.
 * Hands out each key once.
 */
export class KeyPairPool {
  readonly #generate: GenerateKeyPair;
  readonly #stock: KeyPair[] = [];
  #filling = false;

  constructor(generate: GenerateKeyPair) {
    this.#generate = generate;
  }

  /** Returns a key from the pool, or generates one. */
  readonly take: GenerateKeyPair = (bits) => {
    const ready = bits === usualBits ? this.#stock.shift() : undefined;
    this.fill();
    return ready === undefined ? this.#generate(bits) : Promise.resolve(ready);
  };

  /** Starts to fill the pool, one key at a time. After a failure, `take` generates the key. */
  fill(): void {
    if (this.#filling || this.#stock.length >= poolSize) return;
    this.#filling = true;
    this.#generate(usualBits)
      .then((key) => {
        this.#stock.push(key);
        this.#filling = false;
        this.fill();
      })
      .catch(() => {
        this.#filling = false;
      });
  }
}
