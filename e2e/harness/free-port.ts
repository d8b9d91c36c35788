import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const handedOut = new Set<number>();

/**
 * Returns a free loopback TCP port below the range for outgoing connections (32768 and up on
 * Linux), so that the port of a stopped component is still free when the component restarts.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(20_000, 30_000);
    if (!handedOut.has(port) && (await canListen(port))) {
      handedOut.add(port);
      return port;
    }
  }
  throw new Error('found no free loopback port between 20000 and 29999');
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listens = await once(server, 'listening').catch(() => undefined);
  if (listens !== undefined) await once(server.close(), 'close');
  return listens !== undefined;
}
