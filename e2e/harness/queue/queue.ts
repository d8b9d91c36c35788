import type { RightsSnapshot } from '../rights/rights-used.ts';
import { WorkerHandle } from '../worker/worker-handle.ts';
import type { Outcome, QueueMethods, QueueOptions } from './queue-worker.ts';

/** Runs scenarios one after another in a process of their own, on one control plane. */
export class Queue {
  readonly #options: QueueOptions;
  readonly #isWhole: boolean;
  readonly #print: (line: string) => void;
  #worker: WorkerHandle<QueueMethods>;
  #lines: string[] = [];

  /** @param isWhole whether the output of a scenario appears only when it ends */
  constructor(options: QueueOptions, isWhole: boolean, print: (line: string) => void) {
    this.#options = options;
    this.#isWhole = isWhole;
    this.#print = print;
    this.#worker = this.#start();
  }

  /**
   * Runs a scenario. If it ends the process, the outcome is a failure.
   *
   * @param rights the rights that other scenarios have used
   */
  async run(name: string, rights: RightsSnapshot): Promise<Outcome> {
    const outcome = await this.#worker.call('run', name, rights).catch((error: unknown): Outcome => {
      this.#lines.push(`FAILED ${name}: ${String(error)}`);
      this.#worker = this.#start();
      return { passed: 0, isFailed: true, rights };
    });
    if (this.#lines.length > 0) this.#print(this.#lines.join('\n'));
    this.#lines = [];
    return outcome;
  }

  /** Stops the control plane and the process. */
  async stop(keepsLogs: boolean): Promise<void> {
    await this.#worker.call('stop', keepsLogs).catch(() => undefined);
    await this.#worker.end();
  }

  #start(): WorkerHandle<QueueMethods> {
    const worker = new WorkerHandle<QueueMethods>(new URL('./queue-worker.ts', import.meta.url), this.#options);
    worker.on('line', (line) => {
      if (this.#isWhole) this.#lines.push(line as string);
      else this.#print(line as string);
    });
    return worker;
  }
}
