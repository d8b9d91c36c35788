/** A leaf and its key as they are served. The same object is returned for as long as nothing has changed: contexts are cached by it. */
export interface ServingPair {
  /** The leaf, followed by intermediates if there are any. */
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** The certificates in memory that the listener chooses from by SNI; filled by a watch on the serving Secrets. */
export interface ServingPairs {
  /** The pair for a server name in lower case, e.g. `sidecar-injector-default.injection.svc`. */
  forServerName(serverName: string): ServingPair | undefined;
  /** The pair for clients without SNI, or with a name that nobody serves. */
  defaultPair(): ServingPair | undefined;
  /** A server name of each pair, and the end of the pair's validity: for metrics. */
  expiries(): Iterable<readonly [serverName: string, notAfter: Date]>;
}
