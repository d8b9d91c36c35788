import { parentPort, type MessagePort } from 'node:worker_threads';
import { monotonic } from './monotonic.ts';
import { RawConnection } from './raw-connection.ts';

/** Requests as they go over the wire, one behind the other. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly bytes: SharedArrayBuffer;
  /** Where each request begins, and where the last one ends. */
  readonly starts: Float64Array<SharedArrayBuffer>;
  /** For each request, of `monotonic`; undefined when each connection sends its next one when the last is answered. */
  readonly due?: Float64Array<SharedArrayBuffer>;
  /** Told by the pacer that everything up to this index is due. */
  readonly wake?: MessagePort;
}

export interface LoadReport {
  /** From when a request was due, or was sent, until its answer was there; milliseconds, in no order. */
  readonly latencies: Float64Array;
  /** How late this thread noticed that a request was due; empty without a pace. */
  readonly lateness: Float64Array;
  readonly failed: number;
  /** Of the last answer's body. */
  readonly answerBytes: number;
  /** When there was no server: why. */
  readonly problem?: string;
}

/** Sends one load after the other, each prepared before it begins. */
parentPort?.on('message', (load: Load) => {
  run(load).then(
    (report) => parentPort?.postMessage(report),
    (error: unknown) =>
      parentPort?.postMessage({
        latencies: new Float64Array(),
        lateness: new Float64Array(),
        failed: 0,
        answerBytes: 0,
        problem: error instanceof Error ? error.message : String(error),
      } satisfies LoadReport),
  );
});

async function run({ port, connections, bytes, starts, due, wake }: Load): Promise<LoadReport> {
  const count = starts.length - 1;
  const requests = Array.from({ length: count }, (_, index) => {
    const start = starts[index] ?? 0;
    return Buffer.from(bytes, start, (starts[index + 1] ?? start) - start);
  });
  const idle = Array.from({ length: connections }, () => new RawConnection(port));
  const all = [...idle];
  // A server sees the same connections whatever the pace is, and a handshake is not part of anybody's latency.
  await Promise.all(all.map((connection) => connection.open()));
  const latencies = new Float64Array(count);
  const lateness = new Float64Array(due === undefined ? 0 : count);
  let next = 0;
  let allowed = due === undefined ? count : 0;
  let answered = 0;
  let failed = 0;
  let answerBytes = 0;
  await new Promise<void>((resolve) => {
    const sendAll = (): void => {
      while (next < allowed) {
        const connection = idle.pop();
        if (connection === undefined) return;
        send(connection, next++);
      }
    };
    const send = (connection: RawConnection, index: number): void => {
      const begun = due?.[index] ?? monotonic();
      connection.send(requests[index] ?? Buffer.alloc(0), (status, bodyBytes) => {
        latencies[index] = monotonic() - begun;
        if (status !== 200) failed++;
        answerBytes = bodyBytes;
        idle.push(connection);
        if (++answered === count) resolve();
        else sendAll();
      });
    };
    wake?.on('message', (last: number) => {
      const now = monotonic();
      for (let index = allowed; index <= last; index++) lateness[index] = now - (due?.[index] ?? now);
      allowed = last + 1;
      sendAll();
    });
    sendAll();
  });
  for (const connection of all) connection.close();
  return { latencies, lateness, failed, answerBytes };
}
