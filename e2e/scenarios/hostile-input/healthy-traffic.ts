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
import { Materials } from '../../../src/server/testdata/hostile/materials.ts';

const directClients = 4;
/** The number of clients with mostly idle connections, like those of API servers. */
const keptClients = 50;
/** The milliseconds between a response and the next request on the same connection. */
const pauses = { direct: 40, apiServer: 50, kept: 15_000 };

export interface HealthyFigures {
  /** The latencies of correct answers to direct reviews, in milliseconds. */
  readonly direct: readonly number[];
  readonly apiServer: readonly number[];
  readonly failures: readonly string[];
}

/** The normal load: pods through the API server, direct reviews, and mostly idle connections. */
export function healthyTraffic({ client: api }: ScenarioContext, namespace: string, address: ReviewTarget) {
  const direct = Array.from({ length: directClients }, () => new HealthyClient(address));
  const kept = Array.from({ length: keptClients }, () => new HealthyClient(address));
  const answers: string[] = [];
  let number = 0;

  /** Posts a review with a new pod. */
  const postNew = async (client: HealthyClient): Promise<void> => {
    const answer = await client.post(new Materials(++number).healthyText());
    if (!answer.includes('"allowed":true') || !answer.includes('"patchType":"JSONPatch"'))
      throw new Error(`a healthy review was not injected: ${answer.slice(0, 300)}`);
  };

  /** Posts the same review again. Requires the same answer, byte for byte. */
  const postSame = async (client: HealthyClient, index: number): Promise<void> => {
    const answer = await client.post(new Materials(0x70000000 + index).healthyText());
    if ((answers[index] ??= answer) !== answer)
      throw new Error(`the same review got a different answer: ${answer.slice(0, 300)}`);
  };

  const createPod = async (): Promise<void> => {
    const stored = await dryRun(api, barePod(namespace, `healthy-${++number}`));
    if (!runningContainers(stored).includes('istio-proxy')) throw new Error('a pod was stored without its sidecar');
  };

  const measure = async (until: Promise<unknown>): Promise<HealthyFigures> => {
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
      ...direct.map((client) => repeat(pauses.direct, figures.direct, () => postNew(client))),
      repeat(pauses.apiServer, figures.apiServer, createPod),
      ...kept.map((client, index) => repeat(pauses.kept, undefined, () => postSame(client, index))),
    ];
    await until.finally(() => end.abort());
    await Promise.all(loops);
    return figures;
  };

  return {
    measure,
    /** The number of connections that the server closed: those beyond one per client. */
    reopened: () => [...direct, ...kept].reduce((sum, { opened }) => sum + Math.max(opened - 1, 0), 0),
    close: () => {
      for (const { agent } of [...direct, ...kept]) agent.destroy();
    },
  };
}

export function summarise({ direct, apiServer, failures }: HealthyFigures): Figures {
  const figuresOf = (latencies: readonly number[]): Figures => ({
    answered: latencies.length,
    p50Milliseconds: quantile(latencies, 0.5),
    p99Milliseconds: quantile(latencies, 0.99),
    maxMilliseconds: quantile(latencies, 1),
  });
  return { directReviews: figuresOf(direct), podsThroughApiServer: figuresOf(apiServer), failed: failures.length };
}

/** A client that verifies the certificate and keeps one connection, as the API server does. */
class HealthyClient {
  /** The number of opened connections. More than 1 means that the server closed a connection. */
  opened = 0;
  readonly #address: ReviewTarget;
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(address: ReviewTarget) {
    this.#address = address;
  }

  /** Posts a review and returns the body of the answer. Rejects if the status is not 200. */
  async post(body: string): Promise<string> {
    const onConnect = () => this.opened++;
    const { status, text } = await postReview(this.#address, body, { agent: this.agent, onConnect });
    if (status !== 200) throw new Error(`the answer has status ${status}: ${text.slice(0, 200)}`);
    return text;
  }
}
