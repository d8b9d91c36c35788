/** The attacker's process, which keeps its load out of the measurements. Messages control it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { largeBodies } from '../../../bench/server/pressure.ts';
import { HostileClient, openTls } from '../../../src/server/testdata/hostile/client.ts';
import { framed, head, type HostileTarget } from '../../../src/server/testdata/hostile/materials.ts';
import { repeat } from '../../harness/repeat.ts';
import { attack, type AttackOrders, type AttackReport } from './attack.ts';

const largeBody = 19 * 1024 * 1024;
const burst = { connections: 3, milliseconds: 300, pause: 5000 };

const ignored = (): void => undefined;

/** Opens silent connections until the server closes some to make room; waits one more second. */
async function silence({ port, target, silent }: AttackOrders, slow: SlowConnections): Promise<number> {
  const sockets: Socket[] = [];
  const evictedBefore = slow.evicted;
  const open = (): Socket =>
    silent.encrypted ? openTls(port, target.host) : connect({ host: '127.0.0.1', port }).on('error', ignored);
  while (sockets.length < silent.most && slow.evicted < evictedBefore + 20) {
    const batch = Array.from({ length: 100 }, open);
    sockets.push(...batch);
    // `once` rejects if the server aborts the handshake.
    const event = silent.encrypted ? 'secureConnect' : 'connect';
    await Promise.all(batch.map((socket) => once(socket, event).catch(ignored)));
  }
  await sleep(1000);
  for (const socket of sockets) socket.destroy();
  return sockets.length;
}

/** Waits until the server has accepted the slow connections: a later request gets an answer. */
async function throughTheQueue(port: number, target: HostileTarget): Promise<void> {
  const client = new HostileClient(port, target.host);
  await client.send({ bytes: framed(target, '{}') });
  client.close();
}

async function carryOut(orders: AttackOrders): Promise<AttackReport> {
  const { port, target, slowConnections, silent } = orders;
  const slow = new SlowConnections(port, target, slowConnections);
  await throughTheQueue(port, target);
  const largeOutcomes: Record<string, number> = {};
  const stopLargeBodies = repeat(async (wait) => {
    const large = largeBodies(port, target.path, burst.connections, largeBody);
    await sleep(burst.milliseconds);
    await large.stop();
    for (const [outcome, count] of Object.entries(large.outcomes))
      largeOutcomes[outcome] = (largeOutcomes[outcome] ?? 0) + count;
    await wait(burst.pause);
  });
  let silencing = false;
  const silencedUntilDone = async (): Promise<number> => {
    await sleep(silent.after);
    silencing = true;
    const connections = await silence(orders, slow);
    silencing = false;
    return connections;
  };
  const [report, silentConnections] = await Promise.all([attack(orders, () => silencing), silencedUntilDone()]);
  const stopping = stopLargeBodies();
  const slowConnectionsAtEnd = slow.open;
  slow.stop();
  await stopping;
  return { ...report, largeOutcomes, slowConnectionsAtEnd, silentConnections };
}

process.on('disconnect', () => process.exit(0));
process.on('message', (orders: AttackOrders) => void carryOut(orders).then((report) => process.send?.(report)));

/** The milliseconds between two bytes; the whole body would take most of a day. */
const drip = 5000;
const bodyBytes = 60_000;
/** The milliseconds until a closed connection reopens, long enough to avoid many handshakes. */
const pause = 5000;

/** Connections that send a review byte by byte, and reopen after the server closes them. */
class SlowConnections {
  readonly #sockets = new Set<TLSSocket>();
  /** The number of connections that the server closed without an answer. */
  evicted = 0;
  #stopped = false;

  constructor(port: number, target: HostileTarget, count: number) {
    const beginning = `${head(target, { path: target.path, headers: [`Content-Length: ${bodyBytes}`] })}\r\n{`;
    const begin = (): void => {
      if (this.#stopped) return;
      const socket = openTls(port, target.host);
      socket.on('secureConnect', () => socket.write(beginning));
      this.#sockets.add(socket);
      const timer = setInterval(() => socket.write('"'), drip);
      let answered = false;
      socket.on('data', () => (answered = true));
      socket.on('close', () => {
        clearInterval(timer);
        this.#sockets.delete(socket);
        if (!answered && !this.#stopped) this.evicted++;
        setTimeout(begin, pause);
      });
    };
    for (let index = 0; index < count; index++) begin();
  }

  /** The number of open connections with an unfinished review. */
  get open(): number {
    return [...this.#sockets].filter((socket) => !socket.connecting && !socket.destroyed).length;
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
