import { createSecureContext, type SecureContext } from 'node:tls';
import type { ServingPair, ServingPairs } from './serving-pairs.ts';

/**
 * The TLS contexts for the pairs that are served now, each built once: parsing a key costs far more than a lookup, and a handshake must not pay for it.
 * A connection keeps the context it began with, so a swap disturbs nobody.
 */
export class SecureContexts {
  readonly #pairs: ServingPairs;
  #default: ServingPair | undefined;
  readonly #contexts = new WeakMap<ServingPair, SecureContext>();

  constructor(pairs: ServingPairs) {
    this.#pairs = pairs;
  }

  /** The context for a server name (any case), or the default one; undefined while there is no certificate at all. */
  forServerName(serverName: string): SecureContext | undefined {
    const pair = this.#pairs.forServerName(serverName.toLowerCase()) ?? this.#pairs.defaultPair();
    return pair === undefined ? undefined : this.#contextOf(pair);
  }

  /** The pair for clients that send no name, when it is another than at the last call: the listener then has to be told, since no callback asks for it. */
  changedDefault(): ServingPair | undefined {
    const pair = this.#pairs.defaultPair();
    if (pair === this.#default) return undefined;
    this.#default = pair;
    return pair;
  }

  /** @throws an error of OpenSSL's when the pair does not fit together; whoever fills the pairs checks that first. */
  #contextOf(pair: ServingPair): SecureContext {
    let context = this.#contexts.get(pair);
    if (context === undefined) {
      context = createSecureContext({ cert: pair.certificatePem, key: pair.privateKeyPem, minVersion: 'TLSv1.2' });
      this.#contexts.set(pair, context);
    }
    return context;
  }
}
