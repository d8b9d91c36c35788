import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import { createLeaseElector } from '../../../src/kube/lease-elector.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { NotedLog, type Workbench } from './workbench.ts';

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');
type Lease = KubernetesObject & { spec: { leaseTransitions?: number } };
const leaseName = 'machinery';
const day = 86_400_000;
/** The divisor of all durations of the Lease. */
const timeScale = 3;
/** The durations of the Lease in seconds. */
const lasting = { lease: 15 / timeScale, renewDeadline: 10 / timeScale };
/** The longest retry interval in seconds: 2 s, and 1.2 times 2 s (client-go's JitterFactor). */
const longestRetry = 4.4 / timeScale;

class Candidate {
  readonly name: string;
  readonly elector: ReturnType<typeof createLeaseElector>;
  clockOffset = 0;
  /** The times at which the candidate last became leader and stopped leading. */
  began: number | undefined;
  ended: number | undefined;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(bench: Workbench, name: string) {
    this.name = name;
    this.elector = createLeaseElector({
      client: bench.client(name),
      namespace: bench.namespace,
      name: leaseName,
      identity: name,
      clock: { ...systemClock, now: () => new Date(Date.now() + this.clockOffset) },
      random: () => bench.random.next(),
      logger: new NotedLog(),
      timeScale,
    });
    this.#running = this.elector.run(this.#stop.signal, async (leading) => {
      this.began = Date.now();
      await new Promise((resolve) => leading.addEventListener('abort', resolve, { once: true }));
      this.ended = Date.now();
    });
  }

  /** Stops the candidate as SIGTERM does. The candidate releases its Lease. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Checks elections with skewed clocks, with a disconnected leader, and with a handover. */
export async function checkElections(bench: Workbench): Promise<void> {
  const { context, proxy } = bench;
  const first = new Candidate(bench, 'km-lease-first');
  await waitFor('a leader', () => first.began !== undefined);
  const others = ['km-lease-other', 'km-lease-third'].map((name) => new Candidate(bench, name));
  const all = [first, ...others];
  /** Waits until each candidate has read the Lease three times; the leader also renews it. */
  const untilLooked = async () => {
    const reads = () => all.map(({ name }) => bench.requestsOf(name).filter(({ verb }) => verb === 'get').length);
    const before = reads();
    await waitFor('each candidate to read the Lease', () =>
      reads().every((count, index) => count >= (before[index] ?? 0) + 3),
    );
  };
  let most = 0;
  let samples = 0;
  const sampling = setInterval(() => {
    samples += 1;
    most = Math.max(most, all.filter(({ elector }) => elector.holds).length);
  }, 10);
  try {
    await untilLooked();
    for (const [index, other] of others.entries()) other.clockOffset = index === 0 ? day : -day;
    first.clockOffset = -day;
    await untilLooked();
    first.clockOffset = day;
    await untilLooked();
    const lease = await context.client.get<Lease>(leases, leaseName, { namespace: bench.namespace });
    const { leaseTransitions = 0 } = lease.spec;
    await context.checkNow(
      'the leader keeps leading when all clocks jump by a day in either direction',
      () => first.ended === undefined && others.every(({ began }) => began === undefined) && leaseTransitions === 0,
    );

    // Unlike a killed leader, a disconnected leader could keep acting.
    const cutOff = await proxy.fault({ match: { client: first.name }, action: { kind: 'hang' } });
    const next = await waitFor('another leader', () => others.find(({ began }) => began !== undefined), {
      timeout: 120_000,
    });
    // Read the last renewal from the audit log: a renewal in flight at the disconnection counts.
    const lastRenewal = Math.max(
      ...bench
        .requestsOf(first.name)
        .filter(({ verb, responseStatus }) => verb === 'update' && responseStatus?.code === 200)
        .map(({ stageTimestamp }) => Date.parse(stageTimestamp)),
    );
    const still = (await bench.standstill.between(lastRenewal, Date.now())) / 1000;
    const stopped = ((first.ended ?? Infinity) - lastRenewal) / 1000;
    const took = ((next.began ?? 0) - lastRenewal) / 1000;
    await context.checkNow(
      `a disconnected leader stops ${stopped.toFixed(1)} s after its last renewal, and another candidate leads ${took.toFixed(1)} s after the renewal`,
      () =>
        stopped <= lasting.renewDeadline + 0.5 + still &&
        stopped < took &&
        took >= lasting.lease &&
        took <= lasting.lease + 2 * longestRetry + 1 + still,
    );
    await cutOff.end();
    const heir = others.find((each) => each !== next);
    const released = Date.now();
    await next.stop();
    // The first leader may also win, because it reaches the API server again.
    const begins = () => [heir, first].map((each) => each?.began ?? 0).find((began) => began >= released);
    const handOver = ((await waitFor('a new leader', begins)) - released) / 1000;
    const late = (await bench.standstill.between(released, Date.now())) / 1000;
    await context.checkNow(
      `a stopping leader releases the Lease, and the next leader begins ${handOver.toFixed(1)} s later`,
      () => handOver <= longestRetry + 1 + late,
    );
    await context.checkNow(`at most one candidate led (in ${samples} samples)`, () => most === 1 && samples > 500);
  } finally {
    clearInterval(sampling);
    await Promise.all(all.map((each) => each.stop()));
  }
}
