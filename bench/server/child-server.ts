import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle/bundle.ts';
import { type ProcessUsage, processUsage } from './process-usage.ts';
import type { ServerAnswer } from './server-process.ts';

/** What a {@link ChildServer} runs. */
export type ServerKind = 'bare' | 'ours';

/** A server in a process of its own, so that its CPU time is its own too; from a bundle, as what is published is. */
export class ChildServer {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /**
   * @param folder where the bundle is put
   * @param configuration a file that holds ConfigurationFiles as JSON, for `ours`
   */
  static async start(folder: string, kind: ServerKind, configuration = ''): Promise<ChildServer> {
    const file = join(folder, `${kind}.cjs`);
    // The bare server is Node as it comes.
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
    this.#child.send('tell');
    return (await answer)[0];
  }

  stop(): void {
    this.#child.disconnect();
  }
}
