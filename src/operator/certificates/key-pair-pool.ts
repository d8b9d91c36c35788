import type { GenerateKeyPair, KeyPair } from '../../certs/key-pair.ts';

/** An authority and a serving certificate, which a new InjectorConfig needs at once, and the same again for what is damaged meanwhile. */
const poolSize = 4;
/** The size that InjectorConfigs have unless told. */
const usualBits = 2048;

/**
 * RSA keys made ahead of time, since making one takes a good part of a second of one core: a new InjectorConfig is served that much sooner. Only the
 * usual size is kept in stock; each key is handed out once.
 */
export class KeyPairPool {
  readonly #generate: GenerateKeyPair;
  readonly #stock: KeyPair[] = [];
  #filling = false;

  constructor(generate: GenerateKeyPair) {
    this.#generate = generate;
  }

  /** A key from the stock, or a new one. */
  readonly take: GenerateKeyPair = (bits) => {
    const ready = bits === usualBits ? this.#stock.shift() : undefined;
    this.fill();
    return ready === undefined ? this.#generate(bits) : Promise.resolve(ready);
  };

  /** Begins to stock up, one key at a time; a failure is left to whoever needs a key. */
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
