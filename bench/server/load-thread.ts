import { parentPort, type MessagePort } from 'node:worker_threads';
import { monotonic } from './monotonic.ts';
import { RawConnection } from './raw-connection.ts';

/** Concatenated requests in wire format. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly bytes: SharedArrayBuffer;
  /** The byte offsets of the requests, and of the end of the last request. */
  readonly starts: Float64Array<SharedArrayBuffer>;
  /** The due time of each request on clock `monotonic`; undefined to send as soon as possible. */
  readonly due?: Float64Array<SharedArrayBuffer>;
  /** The port on which the pacer sends the index of the last due request. */
  readonly wake?: MessagePort;
}

export interface LoadReport {
  /** The latencies in milliseconds, unordered: from `due`, or else from sending, to the answer. */
  readonly latencies: Float64Array;
  /** How late this thread learned that a request was due, in milliseconds; empty without `due`. */
  readonly lateness: Float64Array;
  readonly failed: number;
  /** The size of the last answer's body. */
  readonly answerBytes: number;
  /** The error if no server accepted connections. */
  readonly problem?: string;
}

/** Sends one load at a time. Prepares all requests of the load before it sends the first one. */
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
  // Open all connections before the first request, so that no latency includes a handshake.
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
