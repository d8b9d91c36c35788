/** The balancer's process, which accepts TCP connections on a port and forwards their bytes. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { serveWorker, workerData } from '../worker/serve-worker.ts';
import { Backend, type BackendAddress, type BalancerTimes, type ConnectionRecord } from './backend.ts';

const { port, times } = workerData as { port: number; times: BalancerTimes };
const backends = new Map<string, Backend>();
/** Removed backends, whose connections are still reported. */
const former: Backend[] = [];
const inRotation = () => [...backends.values()].filter(({ isInRotation }) => isInRotation);
let turn = 0;

const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const candidates = inRotation();
  const chosen = candidates[turn++ % Math.max(candidates.length, 1)];
  // Refuse the connection, as a Service without endpoints does.
  if (chosen === undefined) client.resetAndDestroy();
  else passOn(client, chosen);
});

function passOn(client: Socket, backend: Backend): void {
  const record: ConnectionRecord = {
    backend: backend.address.name,
    host: undefined,
    openedAt: Date.now(),
    closedAt: undefined,
    closedBy: undefined,
    bytesUp: 0,
    bytesDown: 0,
    isWaiting: true,
  };
  backend.connections.push(record);
  const upstream = connect({ host: '127.0.0.1', port: backend.address.port, allowHalfOpen: true, noDelay: true });
  let isConnected = false;
  upstream.once('connect', () => (isConnected = true));
  const ended = (by: 'client' | 'backend') => {
    record.closedBy ??= isConnected || by === 'client' ? by : 'refused';
    record.closedAt ??= Date.now();
  };
  client.on('data', (chunk: Buffer) => {
    // The ClientHello contains the name as text (RFC 6066), after bytes that may be letters too.
    if (record.bytesUp === 0) record.host = /[\w.-]+\.svc/.exec(chunk.toString('latin1'))?.[0];
    record.bytesUp += chunk.length;
    // After the end, a client may send a TLS alert (at most 31 bytes), which is not a request.
    if (record.closedAt === undefined || chunk.length > 64) record.isWaiting = true;
  });
  upstream.on('data', (chunk: Buffer) => {
    record.bytesDown += chunk.length;
    record.isWaiting = false;
  });
  for (const [by, side, other] of [
    ['client', client, upstream],
    ['backend', upstream, client],
  ] as const) {
    side.once('end', () => ended(by));
    side.pipe(other);
    // An error on one side becomes a reset on the other side.
    side.on('error', () => {
      ended(by);
      if (!other.destroyed) other.resetAndDestroy();
    });
    side.on('close', () => {
      ended(by);
      if (!other.destroyed && !other.writableEnded) other.destroy();
    });
  }
}

const listening = once(server.listen(port, '127.0.0.1'), 'listening');

export type BalancerMethods = typeof methods;

const methods = {
  listening: () => listening,
  add(address: BackendAddress): void {
    if (backends.has(address.name)) throw new Error(`backend ${address.name} already exists`);
    backends.set(address.name, new Backend(address, times));
  },
  remove(name: string): void {
    const backend = backends.get(name);
    if (backend === undefined) return;
    backend.remove();
    backends.delete(name);
    former.push(backend);
  },
  inRotation: () => inRotation().map(({ address }) => address.name),
  connections: () => [...former, ...backends.values()].flatMap(({ connections }) => connections),
  droppedAt: (name: string) =>
    (backends.get(name) ?? former.findLast(({ address }) => address.name === name))?.droppedAt,
};
serveWorker(methods);
