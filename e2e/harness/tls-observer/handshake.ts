import type { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';

/** What a TLS client found at a port. */
interface HandshakeResult {
  leaf: X509Certificate | undefined;
  /** Why the client would go no further; undefined when it trusts what it was shown. */
  fault: string | undefined;
}

/** Milliseconds until a handshake is given up: far more than a busy machine takes. */
const patience = 10_000;

/**
 * One TLS handshake with a port of this machine, without resuming an earlier session, and its end.
 *
 * @param authorities PEM; whom the client trusts, and nobody else
 */
export function shakeHands(port: number, servername: string, authorities: string): Promise<HandshakeResult> {
  return new Promise((resolve) => {
    // An empty list would make Node trust the authorities of browsers.
    const ca = authorities === '' ? '\n' : authorities;
    const socket = connect({ host: '127.0.0.1', port, servername, ca, rejectUnauthorized: false, timeout: patience });
    const end = (result: HandshakeResult) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('secureConnect', () => {
      const fault = socket.authorized ? undefined : String(socket.authorizationError);
      end({ leaf: socket.getPeerX509Certificate(), fault });
    });
    socket.once('timeout', () => {
      end({ leaf: undefined, fault: 'no handshake in time' });
    });
    socket.once('error', ({ message }: Error) => {
      end({ leaf: undefined, fault: message });
    });
  });
}
