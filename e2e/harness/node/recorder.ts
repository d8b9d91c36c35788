import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Collects the events that the agents in pods report, in the order in which they happen. */
export class Recorder {
  readonly #events: string[] = [];
  readonly #server = createServer((request, response) => {
    void text(request).then((event) => {
      this.#events.push(event);
      response.end();
    });
  });

  /** @param address the machine's address that the node reaches */
  static async start(address: string): Promise<Recorder> {
    const recorder = new Recorder();
    await once(recorder.#server.listen(0, address), 'listening');
    return recorder;
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${address}:${port}/`;
  }

  /** Returns the events of a pod as `CONTAINER EVENT`. */
  of(pod: string): string[] {
    return this.#events.filter((event) => event.startsWith(`${pod}/`)).map((event) => event.slice(pod.length + 1));
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/**
 * Returns true if these events happened in this order; others may have happened between them.
 *
 * @throws Error with all events if they did not
 */
export function happened(events: readonly string[], ...expected: readonly string[]): true {
  let next = 0;
  for (const event of events) if (event === expected[next]) next++;
  if (next === expected.length) return true;
  throw new Error(`${expected[next] ?? ''} is missing or too early in: ${events.join(', ')}`);
}
