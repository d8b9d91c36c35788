import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../../../bench/report.ts';
import { Random } from '../../../scripts/template-recorder/random.ts';
import { dryRun } from '../../harness/admissions.ts';
import { runningContainers } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';
import { HealthyClient, type WebhookAddress } from './healthy-client.ts';
import { healthyText } from './materials.ts';

const directClients = 4;
/** Connections that are mostly idle, as those that the API server keeps. */
const keptClients = 50;
/** Milliseconds between the end of a request and the next on the same connection. */
const pauses = { direct: 40, apiServer: 50, kept: 15_000 };

/** Requests of one kind, while something else went on or not. */
export interface HealthyFigures {
  /** Milliseconds of those that were answered rightly, sorted. */
  readonly direct: readonly number[];
  readonly apiServer: readonly number[];
  readonly failures: readonly string[];
}

/** What the cluster asks for all the time: pods that are created through the API server, reviews that are posted as it would, and connections that it keeps. */
export class HealthyTraffic {
  readonly #context: ScenarioContext;
  readonly #namespace: string;
  readonly #direct: readonly HealthyClient[];
  readonly #kept: readonly HealthyClient[];
  readonly #answers: string[] = [];
  #number = 0;

  constructor(context: ScenarioContext, namespace: string, address: WebhookAddress) {
    this.#context = context;
    this.#namespace = namespace;
    this.#direct = Array.from({ length: directClients }, () => new HealthyClient(address));
    this.#kept = Array.from({ length: keptClients }, () => new HealthyClient(address));
  }

  /** Connections that were opened beyond one for each client: ones that worked and were closed by the server. */
  get reopened(): number {
    return [...this.#direct, ...this.#kept].reduce((sum, { opened }) => sum + Math.max(opened - 1, 0), 0);
  }

  get keptConnections(): number {
    return this.#kept.filter(({ opened }) => opened === 1).length;
  }

  /** Keeps asking until something has ended. */
  async measure(until: Promise<unknown>): Promise<HealthyFigures> {
    const figures = { direct: [] as number[], apiServer: [] as number[], failures: [] as string[] };
    const end = new AbortController();
    setMaxListeners(0, end.signal);
    const repeat = async (pause: number, latencies: number[] | undefined, ask: () => Promise<void>): Promise<void> => {
      while (!end.signal.aborted) {
        const started = performance.now();
        try {
          await ask();
          latencies?.push(performance.now() - started);
        } catch (error) {
          figures.failures.push(error instanceof Error ? error.message : String(error));
        }
        await sleep(pause, undefined, { signal: end.signal }).catch(() => undefined);
      }
    };
    const loops = [
      ...this.#direct.map((client) => repeat(pauses.direct, figures.direct, () => this.#postNew(client))),
      repeat(pauses.apiServer, figures.apiServer, () => this.#createPod()),
      ...this.#kept.map((client, index) => repeat(pauses.kept, undefined, () => this.#postSame(client, index))),
    ];
    await until.finally(() => {
      end.abort();
    });
    await Promise.all(loops);
    figures.direct.sort((left, right) => left - right);
    figures.apiServer.sort((left, right) => left - right);
    return figures;
  }

  close(): void {
    for (const client of [...this.#direct, ...this.#kept]) client.close();
  }

  /** A pod that was never seen before. */
  async #postNew(client: HealthyClient): Promise<void> {
    const answer = await client.post(healthyText(new Random(++this.#number)));
    if (!answer.includes('"allowed":true') || !answer.includes('"patchType":"JSONPatch"'))
      throw new Error(`a healthy review was not injected: ${answer.slice(0, 300)}`);
  }

  /** The same pod as before, which must get the same answer to the byte. */
  async #postSame(client: HealthyClient, index: number): Promise<void> {
    const answer = await client.post(healthyText(new Random(0x70000000 + index)));
    if ((this.#answers[index] ??= answer) !== answer)
      throw new Error(`the same review was answered differently: ${answer.slice(0, 300)}`);
  }

  async #createPod(): Promise<void> {
    const stored = await dryRun(this.#context.client, barePod(this.#namespace, `healthy-${++this.#number}`));
    if (!runningContainers(stored).includes('istio-proxy')) throw new Error('a pod was stored without its sidecar');
  }
}

/** Milliseconds below which so many of them are; of none, 0. */
export function quantile(sorted: readonly number[], fraction: number): number {
  return Math.round((sorted[Math.min(Math.floor(sorted.length * fraction), sorted.length - 1)] ?? 0) * 10) / 10;
}

export function summarise({ direct, apiServer, failures }: HealthyFigures): Figures {
  const of = (latencies: readonly number[]): Figures => ({
    answered: latencies.length,
    p50Milliseconds: quantile(latencies, 0.5),
    p99Milliseconds: quantile(latencies, 0.99),
    maxMilliseconds: quantile(latencies, 1),
  });
  return { directReviews: of(direct), podsThroughApiServer: of(apiServer), failed: failures.length };
}
