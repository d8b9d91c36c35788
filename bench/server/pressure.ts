import { Agent, request as httpsRequest } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';

/** Hostile or broken clients. They run until they are stopped. */
export interface Pressure {
  stop(): Promise<void>;
}

export interface SlowClients extends Pressure {
  /** The number of open connections. */
  readonly open: number;
}

const headers = 'Host: bench\r\nContent-Type: application/json\r\n';

/** Opens connections that each send a byte per second. Reopens a closed connection after 500 ms. */
export function slowClients(port: number, path: string, count: number): SlowClients {
  const sockets = new Set<TLSSocket>();
  let stopped = false;
  function open(): void {
    if (stopped) return;
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    sockets.add(socket);
    socket.on('secureConnect', () => socket.write(`POST ${path} HTTP/1.1\r\n${headers}Content-Length: 60000\r\n\r\n{`));
    const drip = setInterval(() => socket.write('"'), 1000);
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      sockets.delete(socket);
      setTimeout(open, 500);
    });
  }
  for (let index = 0; index < count; index++) open();
  return {
    get open() {
      return sockets.size;
    },
    stop() {
      stopped = true;
      for (const socket of sockets) socket.destroy();
      return Promise.resolve();
    },
  };
}

export interface LargeBodies extends Pressure {
  /** The number of outcomes by response status, or by error code of a broken connection. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Sends bodies of `bytes` bytes sequentially on each of `connections` connections. */
export function largeBodies(port: number, path: string, connections: number, bytes: number): LargeBodies {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  const outcomes: Record<string, number> = {};
  const start =
    '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"CREATE","object":{"x":"';
  const escape = '\\u003c';
  const filling = Buffer.alloc(Math.floor((bytes - start.length) / escape.length) * escape.length, escape);
  const body = Buffer.concat([Buffer.from(start), filling, Buffer.from('"}}}')]);
  let stopped = false;
  const send = (): Promise<string> =>
    new Promise((resolve) => {
      const request = httpsRequest({
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        agent,
        headers: { 'Content-Type': 'application/json', 'Content-Length': body.length },
      });
      request.on('response', (response) => {
        response.resume();
        response.on('close', () => {
          resolve(String(response.statusCode));
        });
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        resolve(error.code ?? error.message);
      });
      request.end(body);
    });
  async function loop(): Promise<void> {
    while (!stopped) {
      const outcome = await send();
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  }
  const loops = Promise.all(Array.from({ length: connections }, loop));
  return {
    outcomes,
    async stop() {
      stopped = true;
      await loops;
      agent.destroy();
    },
  };
}
