import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { WorkerAnswer, WorkerCall } from './serve-worker.ts';

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/**
 * A child process with its own event loop, which is not delayed while this process is busy. The
 * child ends with this process, and answers calls of `Methods` with {@link serveWorker}. It is not
 * a thread, because Node 20 may hang forever when it ends a thread with open connections.
 */
export class WorkerHandle<Methods extends object> {
  readonly #worker: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, (data: unknown) => void>();
  #calls = 0;

  /**
   * @param entry the module to run, such as `new URL('./x-worker.ts', import.meta.url)`
   * @param data the JSON data that becomes `workerData`
   */
  constructor(entry: URL, data: unknown) {
    // Detach, so that Ctrl-C reaches only this process, which may need the worker for its cleanup.
    this.#worker = fork(entry, [JSON.stringify(data)], { serialization: 'advanced', detached: true });
    this.#worker.on('message', (message: WorkerAnswer) => this.#take(message));
    this.#worker.on('error', (error) => this.#failAll(error));
    this.#worker.on('exit', () => this.#failAll(new Error('the worker has ended')));
  }

  call<Name extends keyof Methods & string>(
    method: Name,
    ...args: Methods[Name] extends (...args: infer Args) => unknown ? Args : never
  ): Promise<Methods[Name] extends (...args: never[]) => infer Result ? Awaited<Result> : never> {
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.#worker.send({ id, method, args } satisfies WorkerCall);
    });
  }

  on(event: string, listener: (data: unknown) => void): void {
    this.#listeners.set(event, listener);
  }

  async end(): Promise<void> {
    const { exitCode, signalCode } = this.#worker;
    if (exitCode !== null || signalCode !== null) return;
    this.#worker.kill('SIGKILL');
    await once(this.#worker, 'exit');
  }

  #take(message: WorkerAnswer): void {
    if ('event' in message) {
      this.#listeners.get(message.event)?.(message.data);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error === undefined) waiting?.resolve(message.result);
    else waiting?.reject(new Error(message.error));
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
