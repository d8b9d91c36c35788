import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type ProcessUsage, processUsage } from './process-usage.ts';

/** A server in a process of its own, so that its CPU time is its own too. */
export class ChildServer {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /** @param args see server-process.ts */
  static async start(...args: string[]): Promise<ChildServer> {
    const child = fork(fileURLToPath(new URL('server-process.ts', import.meta.url)), args, {
      execArgv: ['--import', 'ts-blank-space/register'],
    });
    const [message] = (await once(child, 'message')) as [{ port: number }];
    return new ChildServer(child, message.port);
  }

  usage(): ProcessUsage {
    return processUsage(this.#child.pid ?? 0);
  }

  async reused(): Promise<number> {
    const answer = once(this.#child, 'message') as Promise<[{ reused: number }]>;
    this.#child.send('reused');
    return (await answer)[0].reused;
  }

  stop(): void {
    this.#child.disconnect();
  }
}
