import { setMaxListeners } from 'node:events';
import { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../../../bench/report.ts';
import { dryRun } from '../../harness/admissions.ts';
import { runningContainers } from '../../harness/pod.ts';
import { postReview, type ReviewTarget } from '../../harness/post-review.ts';
import { quantile } from '../../harness/quantile.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';
import { Materials } from './materials.ts';

const directClients = 4;
/** Connections that are mostly idle, as those that the API server keeps. */
const keptClients = 50;
/** Milliseconds between the end of a request and the next on the same connection. */
const pauses = { direct: 40, apiServer: 50, kept: 15_000 };

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

  constructor(context: ScenarioContext, namespace: string, address: ReviewTarget) {
    this.#context = context;
    this.#namespace = namespace;
    this.#direct = Array.from({ length: directClients }, () => new HealthyClient(address));
    this.#kept = Array.from({ length: keptClients }, () => new HealthyClient(address));
  }

  /** Connections that were opened beyond one for each client: ones that worked and were closed by the server. */
  get reopened(): number {
    return [...this.#direct, ...this.#kept].reduce((sum, { opened }) => sum + Math.max(opened - 1, 0), 0);
  }

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
    return figures;
  }

  close(): void {
    for (const { agent } of [...this.#direct, ...this.#kept]) agent.destroy();
  }

  /** A pod that was never seen before. */
  async #postNew(client: HealthyClient): Promise<void> {
    const answer = await client.post(new Materials(++this.#number).healthyText());
    if (!answer.includes('"allowed":true') || !answer.includes('"patchType":"JSONPatch"'))
      throw new Error(`a healthy review was not injected: ${answer.slice(0, 300)}`);
  }

  /** The same pod as before, which must get the same answer to the byte. */
  async #postSame(client: HealthyClient, index: number): Promise<void> {
    const answer = await client.post(new Materials(0x70000000 + index).healthyText());
    if ((this.#answers[index] ??= answer) !== answer)
      throw new Error(`the same review was answered differently: ${answer.slice(0, 300)}`);
  }

  async #createPod(): Promise<void> {
    const stored = await dryRun(this.#context.client, barePod(this.#namespace, `healthy-${++this.#number}`));
    if (!runningContainers(stored).includes('istio-proxy')) throw new Error('a pod was stored without its sidecar');
  }
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

/** A client as the API server is one: it checks the certificate, and keeps its one connection. */
class HealthyClient {
  /** Connections that it has opened: more than one, and the server has closed one that worked. */
  opened = 0;
  readonly #address: ReviewTarget;
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(address: ReviewTarget) {
    this.#address = address;
  }

  /** Posts a review; the text of the answer. Rejects when there is none, or none with status 200. */
  async post(body: string): Promise<string> {
    const onConnect = () => this.opened++;
    const { status, text } = await postReview(this.#address, body, { agent: this.agent, onConnect });
    if (status !== 200) throw new Error(`answered with ${status}: ${text.slice(0, 200)}`);
    return text;
  }
}
