import { createServer, type Server } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { AdmissionLimits } from '../admission-limits.ts';
import type { LogPort } from '../ports.ts';
import type { CertifiedKey } from '../../certs/key-pair.ts';

/**
 * The certificates in memory that the listener chooses from by SNI; filled by a watch on the serving Secrets. The same object is returned for as long as
 * nothing has changed: contexts are cached by it.
 */
export interface ServingPairs {
  /** The pair for a server name in lower case, e.g. `sidecar-injector-default.injection.svc`. */
  forServerName(serverName: string): CertifiedKey | undefined;
  /** The pair for clients without SNI, or with a name that nobody serves. */
  defaultPair(): CertifiedKey | undefined;
  /** A server name of each pair, and the end of the pair's validity: for metrics. */
  expiries(): Iterable<readonly [serverName: string, notAfter: Date]>;
}

const minVersion = 'TLSv1.2';

/**
 * An HTTP/1.1 server over TLS that asks for its certificates at every handshake. A connection keeps the one it began with, so a swap disturbs nobody. Node's own
 * timeouts end a connection only while a request is arriving on it; `trackConnections` sees to it that silent ones end after `keepAliveTimeout`, as idle ones do.
 */
export function createTlsServer(limits: AdmissionLimits, pairs: ServingPairs, log: LogPort): Server {
  /** Each is built once: parsing a key costs far more than a lookup, and a handshake must not pay for it. */
  const contexts = new WeakMap<CertifiedKey, SecureContext>();
  /** What clients get that send no name. */
  let defaultPair: CertifiedKey | undefined;

  function contextOf(pair: CertifiedKey): SecureContext {
    const context =
      contexts.get(pair) ?? createSecureContext({ cert: pair.certificatePem, key: pair.privateKeyPem, minVersion });
    contexts.set(pair, context);
    return context;
  }

  const server = createServer({
    minVersion,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: limits.handshakeTimeout,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.headersTimeout + limits.bodyTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeout),
    maxHeaderSize: limits.maxHeaderBytes,
    noDelay: true,
    SNICallback(serverName, callback) {
      try {
        const pair = pairs.forServerName(serverName.toLowerCase()) ?? pairs.defaultPair();
        callback(null, pair && contextOf(pair));
      } catch (error) {
        // OpenSSL's errors name the function and the mistake, never the key.
        log.error('a serving certificate cannot be used', { serverName, error: (error as Error).message });
        callback(new Error(`the certificate for ${serverName} cannot be used`));
      }
    },
  });
  server.timeout = 0;
  server.prependListener('connection', () => {
    // No callback asks for it, so the listener has to be told.
    const pair = pairs.defaultPair();
    if (pair === undefined || pair === defaultPair) return;
    defaultPair = pair;
    try {
      server.setSecureContext({ cert: pair.certificatePem, key: pair.privateKeyPem, minVersion });
    } catch (error) {
      log.error('the default serving certificate cannot be used', { error: (error as Error).message });
    }
  });
  return server;
}
