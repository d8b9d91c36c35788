import { createServer, type Server } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { AdmissionLimits } from '../admission-limits.ts';
import type { LogPort } from '../ports.ts';
import type { CertifiedKey } from '../../certs/key-pair.ts';

/**
 * The serving certificates by SNI, filled by a watch on the serving Secrets. Must return the same
 * object until the pair changes, because the server caches a TLS context for each object.
 */
export interface ServingPairs {
  /** Returns the pair for a lowercase name, e.g. `sidecar-injector-default.injection.svc`. */
  forServerName(serverName: string): CertifiedKey | undefined;
  /** Returns the pair for clients without SNI, or with an unknown name. */
  defaultPair(): CertifiedKey | undefined;
  /** Returns a server name and the expiry of each pair, for metrics. */
  expiries(): Iterable<readonly [serverName: string, notAfter: Date]>;
}

const minVersion = 'TLSv1.2';

/**
 * Creates an HTTP/1.1 server over TLS that looks up its certificate at every handshake. Open
 * connections keep the certificate of their handshake. Node's timeouts apply only while a request
 * arrives; `trackConnections` closes silent connections after `keepAliveTimeout`.
 */
export function createTlsServer(limits: AdmissionLimits, pairs: ServingPairs, log: LogPort): Server {
  /** A cache, because parsing a key is too expensive for every handshake. */
  const contexts = new WeakMap<CertifiedKey, SecureContext>();
  /** The pair for clients without SNI. */
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
        // OpenSSL's errors name the function and the mistake, but not the key.
        log.error('a serving certificate cannot be used', { serverName, error: (error as Error).message });
        callback(new Error(`the certificate for ${serverName} cannot be used`));
      }
    },
  });
  server.timeout = 0;
  server.prependListener('connection', () => {
    // Node has no callback for clients without SNI; set the default pair when it changes.
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
