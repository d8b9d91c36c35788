import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports from here to `lastPort` are below the range for outgoing connections (32768 on Linux). */
const firstPort = 20_000;
const lastPort = 29_999;
const blockSize = 100;

const unused: number[] = [];

/**
 * Returns a free loopback TCP port that no other process of this harness hands out while this
 * process lives, so that the port of a stopped component is still free when it starts again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = unused.pop();
    if (port === undefined) await claimBlock();
    else if (await listens(port)) return port;
  }
}

/** Claims a block of ports: its first one is listened on for as long as this process lives. */
async function claimBlock(): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const first = randomInt(firstPort / blockSize, (lastPort + 1) / blockSize) * blockSize;
    if (!(await listens(first, { keep: true }))) continue;
    for (let port = first + 1; port < first + blockSize; port++) unused.push(port);
    return;
  }
  throw new Error(`found no free block of loopback ports between ${firstPort} and ${lastPort}`);
}

async function listens(port: number, { keep = false } = {}): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1').unref();
  const listening = await once(server, 'listening').catch(() => undefined);
  if (listening !== undefined && !keep) await once(server.close(), 'close');
  return listening !== undefined;
}
