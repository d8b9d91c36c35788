import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle/bundle.ts';
import { type ProcessUsage, processUsage } from './process-usage.ts';
import type { ServerAnswer } from './server-process.ts';

/** The server that a {@link ChildServer} runs. */
export type ServerKind = 'bare' | 'ours';

/** A server in its own process, to measure its CPU time. It runs from a bundle, as in a release. */
export class ChildServer {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /**
   * @param folder the folder for the bundle
   * @param configuration for `ours`, a file that contains ConfigurationFiles as JSON
   */
  static async start(folder: string, kind: ServerKind, configuration = ''): Promise<ChildServer> {
    const file = join(folder, `${kind}.cjs`);
    // The bare server runs with Node's default heap.
    await bundle(join(import.meta.dirname, 'server-process.ts'), file, { boundedHeap: kind === 'ours' });
    const child = fork(file, [kind, configuration], { execArgv: [] });
    const [message] = (await once(child, 'message')) as [{ port: number }];
    return new ChildServer(child, message.port);
  }

  usage(): ProcessUsage {
    return processUsage(this.#child.pid ?? 0);
  }

  async ask(): Promise<ServerAnswer> {
    const answer = once(this.#child, 'message') as Promise<[ServerAnswer]>;
    this.#child.send('report');
    return (await answer)[0];
  }

  stop(): void {
    this.#child.disconnect();
  }
}
