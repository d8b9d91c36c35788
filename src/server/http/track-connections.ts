import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { AdmissionLimits } from '../admission-limits.ts';
import type { ConnectionGuard } from './connection-guard.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';

/**
 * Registers a server's connections with a guard before their handshake, and counts handshakes and
 * errors before a request. The guard has the plain sockets, and requests have the TLS sockets; this
 * function maps them once, by the client's address and port. The limits are in milliseconds.
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
  /** The sockets on which malformed input was answered; they are read until lingerTimeout. */
  const lingering = new WeakSet<Socket>();

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
    if (lingering.has(socket)) return;
    // API servers open spare connections. Closing such a connection just before its first review
    // would lose the review.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
      socket.setTimeout(keepAliveTimeout);
      return;
    }
    // If the client resets the connection, no request is lost.
    if (error.code !== 'ECONNRESET') metrics.dropped('headers');
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    lingering.add(socket);
    socket.end(rawAnswer(error.code));
    // Closing with unread bytes would reset the connection, and the client might miss the answer.
    const timer = setTimeout(() => socket.destroy(), lingerTimeout);
    socket.once('close', () => clearTimeout(timer));
  });

  return {
    isProven(socket: Socket): boolean {
      const carrier = plain.get(socket);
      return carrier !== undefined && guard.isProven(carrier);
    },
    /** See {@link ConnectionGuard.prove}. */
    prove(socket: Socket): boolean {
      const carrier = plain.get(socket);
      return carrier === undefined || guard.prove(carrier);
    },
    /** Counts an answer, and returns the number of answers on this connection. */
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

/** The status for malformed or late requests by Node's error code. The default is 400. */
const statuses: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Formats the answer as text, because without a request there is no response object. */
function rawAnswer(code = ''): string {
  const status = statuses[code] ?? '400 Bad Request';
  return `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
}
