import { createServer, type Server } from 'node:https';
import type { AdmissionLimits } from '../admission-limits.ts';
import type { LogPort } from '../ports.ts';
import type { SecureContexts } from './secure-contexts.ts';

/**
 * An HTTP/1.1 server over TLS that asks for its certificates at every handshake. Node's own timeouts end a connection only while a request is arriving on it,
 * or before the first one; idle connections end after `keepAliveTimeout`.
 */
export function createTlsServer(limits: AdmissionLimits, contexts: SecureContexts, log: LogPort): Server {
  const server = createServer({
    minVersion: 'TLSv1.2',
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
        callback(null, contexts.forServerName(serverName));
      } catch (error) {
        log.error('a serving certificate cannot be used', { serverName, error: describe(error) });
        callback(new Error(`the certificate for ${serverName} cannot be used`));
      }
    },
  });
  server.timeout = 0;
  server.prependListener('connection', () => {
    const pair = contexts.changedDefault();
    if (pair === undefined) return;
    try {
      server.setSecureContext({ cert: pair.certificatePem, key: pair.privateKeyPem, minVersion: 'TLSv1.2' });
    } catch (error) {
      log.error('the default serving certificate cannot be used', { error: describe(error) });
    }
  });
  return server;
}

/** OpenSSL's errors name the function and the mistake, never the key. */
function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
