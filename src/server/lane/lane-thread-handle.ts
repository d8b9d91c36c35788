import { Worker } from 'node:worker_threads';
import type { Injector } from '../../inject/injector.ts';
import type { FromLane, LaneSurroundings, ToLane } from './lane-messages.ts';
import type { LaneProgram } from './lane-program.ts';

/** How a thread ended while it had something to do. */
export type LaneLoss = 'memory' | 'crash';

const numbers = new WeakMap<Injector, number>();
let lastNumber = 0;

/** Identity, told between threads: another configuration is another object and gets another number, whatever its name and hash. */
function numberOf(injector: Injector): number {
  const known = numbers.get(injector);
  if (known !== undefined) return known;
  numbers.set(injector, ++lastNumber);
  return lastNumber;
}

/** One thread of the lane, and what it has been told so far. */
export class LaneThreadHandle {
  readonly #worker: Worker;
  readonly #maxInjectors: number;
  /** In order of use. */
  readonly #learned = new Set<number>();
  #lists: Pick<LaneSurroundings, 'nodes' | 'proxyConfigs'> = {};
  #isOver = false;

  /** @param lost is told once when the thread ends without having been asked to */
  constructor(
    program: LaneProgram,
    limits: { readonly heapMebibytes: number; readonly maxInjectors: number },
    receive: (message: FromLane) => void,
    lost: (how: LaneLoss, error: unknown) => void,
  ) {
    this.#maxInjectors = limits.maxInjectors;
    this.#worker = new Worker(program.source, {
      eval: program.isText,
      name: 'lane',
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMebibytes },
    });
    // What waits for an answer has a connection that keeps the process alive; an idle thread must not.
    this.#worker.unref();
    const end = (how: LaneLoss, error: unknown): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      lost(how, error);
    };
    this.#worker.on('message', (message: FromLane) => {
      if (!this.#isOver) receive(message);
    });
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', error);
    });
    this.#worker.on('exit', (code) => {
      end('crash', new Error(`the lane's thread ended with code ${code}`));
    });
  }

  /** Makes sure that the thread has this configuration, and no more of them than it may keep. @returns the number by which it knows it */
  learn(injector: Injector): number {
    const number = numberOf(injector);
    if (!this.#learned.delete(number)) this.send({ kind: 'learn', injector: number, files: injector.files });
    this.#learned.add(number);
    const [oldest = number] = this.#learned;
    if (this.#learned.size > this.#maxInjectors) {
      this.#learned.delete(oldest);
      this.send({ kind: 'forget', injector: oldest });
    }
    return number;
  }

  /** Answers `decoded`; lists go over only when they are not the very same as the last time. */
  tellSurroundings({ nodes, proxyConfigs, namespaceMetadata }: LaneSurroundings): void {
    const surroundings: LaneSurroundings = {
      namespaceMetadata,
      ...(nodes === this.#lists.nodes ? {} : { nodes }),
      ...(proxyConfigs === this.#lists.proxyConfigs ? {} : { proxyConfigs }),
    };
    this.#lists = { nodes, proxyConfigs };
    this.send({ kind: 'surroundings', surroundings });
  }

  /** @param handedOver what the thread gets for itself instead of a copy */
  send(message: ToLane, handedOver: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, [...handedOver]);
  }

  /** Ends the thread, whatever it is doing; nothing more comes from it. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#worker.terminate();
  }
}
