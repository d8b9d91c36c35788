import type { RequestClass } from '../faulty-proxy/fault.ts';
import type { PassedWrite } from '../faulty-proxy/faulty-proxy-worker.ts';
import { isCounted } from '../faulty-proxy/passed-writes.ts';
import type { HeldWrite } from '../faulty-proxy/faulty-proxy.ts';
import type { Replica, Replicas } from './replicas.ts';

interface KillOptions {
  /** The writes to consider; by default all counted writes of the controllers. */
  readonly match?: RequestClass;
  /** Decides, for each performed write in order, whether its client is killed. */
  readonly isFatal: (write: PassedWrite) => boolean;
  /** Runs after each kill, before the process restarts. */
  readonly afterwards?: () => Promise<void>;
  /** Whether a killed process restarts immediately (default), or when `end` is called. */
  readonly isRestarted?: boolean;
}

type Victim = Pick<Replica, 'name' | 'operator'>;

/** Controllers behind a proxy. */
export interface KillableReplicas extends Pick<Replicas, 'kill' | 'proxy'> {
  readonly controllers: readonly Victim[];
}

/** Kills controllers after writes that the API server performed, before their response arrives. */
export class LeaderKiller {
  /** The times of the kills, in milliseconds since 1970. */
  readonly deaths: number[] = [];
  readonly #replicas: KillableReplicas;
  readonly #options: KillOptions;
  readonly #ended = new AbortController();
  readonly #dead = new Set<Victim>();
  #running: Promise<void> = Promise.resolve();
  #striking: Promise<void> = Promise.resolve();

  private constructor(replicas: KillableReplicas, options: KillOptions) {
    this.#replicas = replicas;
    this.#options = options;
  }

  static async start(replicas: KillableReplicas, options: KillOptions): Promise<LeaderKiller> {
    const killer = new LeaderKiller(replicas, options);
    killer.#running = killer.#run(await killer.#hold());
    // `end` reports the rejection.
    killer.#running.catch(() => undefined);
    return killer;
  }

  /** Kills a controller. Concurrent kills run one after the other. */
  strike(victim: Victim, release: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { afterwards, isRestarted = true } = this.#options;
    const strike = async (): Promise<void> => {
      this.deaths.push(await this.#replicas.kill(victim));
      await afterwards?.();
      await release();
      if (isRestarted) await victim.operator.restart();
      else this.#dead.add(victim);
    };
    const struck = this.#striking.then(strike);
    this.#striking = struck.catch(() => undefined);
    return struck;
  }

  /** Stops killing. Resolves when no kill is in progress, and all killed processes run again. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    await this.#striking;
    for (const replica of this.#dead) await replica.operator.restart();
    this.#dead.clear();
  }

  async #run(first: HeldWrite): Promise<void> {
    const ended = new Promise<undefined>((resolve) => {
      this.#ended.signal.addEventListener('abort', () => resolve(undefined));
    });
    let held = first;
    for (;;) {
      const reached = await Promise.race([held.reached, ended]);
      if (reached === undefined) return held.release();
      const { release } = held;
      const victim = this.#replicas.controllers.find(({ name }) => reached.userAgent.includes(name));
      if (victim === undefined) {
        await release();
        throw new Error(`no controller made the write ${reached.verb} ${reached.resource}`);
      }
      held = await this.#hold();
      await this.strike(victim, release);
    }
  }

  #hold() {
    const { match = { verbs: ['create', 'update', 'patch', 'delete'] }, isFatal } = this.#options;
    return this.#replicas.proxy.holdFirst(match, (write) => isCounted(write.resource) && isFatal(write));
  }
}
