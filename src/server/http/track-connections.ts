import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { AdmissionLimits } from '../admission-limits.ts';
import type { ConnectionGuard } from './connection-guard.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';

/** The guard's view of the sockets that requests arrive on. */
export type TrackedConnections = ReturnType<typeof trackConnections>;

/**
 * Puts a server's connections under a guard, from before their handshake on, and counts handshakes and what goes wrong before there is a request.
 * The guard holds the plain sockets, requests know the encrypted ones; the client's address and port tie them together, once.
 *
 * Milliseconds in `limits`: for how long what is no request is still read after its answer, and how long a connection may be silent.
 */
export function trackConnections(
  server: Server,
  guard: ConnectionGuard,
  metrics: ServerMetrics,
  { lingerTimeout, keepAliveTimeout }: Pick<AdmissionLimits, 'lingerTimeout' | 'keepAliveTimeout'>,
) {
  const handshaking = new Map<string, Socket>();
  const plain = new WeakMap<Socket, Socket>();
  const answers = new WeakMap<Socket, number>();
  /** Those that have been answered outside of any request, and are read a little longer. */
  const parting = new WeakSet<Socket>();

  server.prependListener('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    handshaking.set(peer, socket);
    socket.once('close', () => {
      if (handshaking.get(peer) === socket) handshaking.delete(peer);
    });
    guard.admit(socket);
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    metrics.handshake('ok');
    const peer = peerOf(socket);
    const carrier = handshaking.get(peer);
    if (carrier === undefined) return;
    handshaking.delete(peer);
    plain.set(socket, carrier);
  });
  server.on('tlsClientError', (_error, socket: TLSSocket) => {
    metrics.handshake('failed');
    metrics.dropped('handshake');
    socket.destroy();
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    // More of what was given up already.
    if (parting.has(socket)) return;
    // An API server dials more connections than it needs at once. One that was closed just as its first review arrives would lose that review.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
      socket.setTimeout(keepAliveTimeout);
      return;
    }
    // A client that just leaves is nobody's loss.
    if (error.code !== 'ECONNRESET') metrics.dropped('headers');
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    parting.add(socket);
    socket.end(rawAnswer(error.code));
    // Closed with unread bytes, the connection would be reset, and the client might never see the answer.
    const timer = setTimeout(() => socket.destroy(), lingerTimeout);
    socket.once('close', () => clearTimeout(timer));
  });

  return {
    isProven(socket: Socket): boolean {
      const carrier = plain.get(socket);
      return carrier !== undefined && guard.isProven(carrier);
    },
    /** A review is answered on it; whether it is kept after that, see {@link ConnectionGuard.prove}. */
    prove(socket: Socket): boolean {
      const carrier = plain.get(socket);
      return carrier === undefined || guard.prove(carrier);
    },
    /** How many answers have been given on this connection, with the one that is about to be. */
    countAnswer(socket: Socket): number {
      const count = (answers.get(socket) ?? 0) + 1;
      answers.set(socket, count);
      return count;
    },
  };
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress ?? ''}|${socket.remotePort ?? ''}`;
}

/** The status of what is not an HTTP request, or not one in time, by Node's error; 400 for any other. */
const statuses: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** There is no response object to write it with. */
function rawAnswer(code = ''): string {
  const status = statuses[code] ?? '400 Bad Request';
  return `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
}
