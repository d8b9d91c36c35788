import type { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';

/** The result of a TLS handshake. */
interface HandshakeResult {
  leaf: X509Certificate | undefined;
  /** Why the client refuses the connection; undefined if it trusts the certificate. */
  fault: string | undefined;
}

/** The timeout of a handshake in milliseconds, far more than a busy machine needs. */
const patience = 10_000;

/**
 * Performs one full TLS handshake with a port of this machine and closes the connection.
 *
 * @param authorities the only CAs that the client trusts, PEM
 */
export function shakeHands(port: number, servername: string, authorities: string): Promise<HandshakeResult> {
  return new Promise((resolve) => {
    // With an empty list, Node would trust its default CAs.
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
    socket.once('timeout', () => end({ leaf: undefined, fault: 'the handshake timed out' }));
    socket.once('error', ({ message }: Error) => end({ leaf: undefined, fault: message }));
  });
}
