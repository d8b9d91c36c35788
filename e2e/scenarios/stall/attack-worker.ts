/** The worker that creates hostile pods. The measurement of innocent pods runs outside of it. */
import { ApiError } from '../../../src/kube/api-error.ts';
import { administrator } from '../../harness/cluster.ts';
import { serveWorker, workerData } from '../../harness/worker/serve-worker.ts';
import { deletePods } from '../../harness/workloads.ts';
import { hostileClasses, hostilePod, type HostileClass } from './hostile-classes.ts';

const { kubeconfig, all, seed } = workerData as AttackWorkerData;
const client = administrator(kubeconfig);
const classes = hostileClasses(all, seed);
/** The milliseconds after which a review counts as unanswered, far above the webhook's timeout. */
const patience = 60_000;

export interface AttackWorkerData {
  readonly kubeconfig: string;
  readonly all: boolean;
  readonly seed: number;
}

/** The result of creating a hostile pod. `deadline` means that the webhook call timed out. */
export type HostileOutcome =
  'created' | 'refused by the injector' | 'refused by the API server' | 'deadline' | 'failed';

export interface HostileReview {
  readonly name: string;
  readonly milliseconds: number;
  readonly outcome: HostileOutcome;
  readonly message: string;
}

export interface AttackOrders {
  readonly rounds: number;
  readonly clients: number;
  /** The milliseconds after which no more pods are created. */
  readonly limit: number;
}

export interface AttackMethods {
  names(): string[];
  one(name: string, namespace: string, dryRun: boolean): Promise<HostileReview>;
  /** Creates a pod of every class in each round, alternating namespaces; half are dry runs. */
  attack(namespaces: readonly string[], orders: AttackOrders): Promise<HostileReview[]>;
}

let made = 0;

async function create(hostile: HostileClass, namespace: string, dryRun: boolean): Promise<HostileReview> {
  const pod = hostilePod(hostile, namespace, `hostile-${++made}`, dryRun);
  const started = performance.now();
  const [outcome, message] = await client.create(pod, { dryRun, timeoutMs: patience }).then(
    () => ['created', ''] as const,
    (error: unknown) => [outcomeOf(error), String(error).slice(0, 300)] as const,
  );
  return { name: hostile.name, milliseconds: performance.now() - started, outcome, message };
}

function outcomeOf(error: unknown): HostileOutcome {
  if (!(error instanceof ApiError)) return 'failed';
  if (error.message.includes('failed calling webhook')) return 'deadline';
  if (error.message.includes('denied the request')) return 'refused by the injector';
  return error.code >= 400 && error.code < 500 ? 'refused by the API server' : 'failed';
}

async function attack(namespaces: readonly string[], { rounds, clients, limit }: AttackOrders) {
  const end = performance.now() + limit;
  const reviews: HostileReview[] = [];
  const orders = Array.from({ length: rounds }, (_, round) =>
    classes.map((hostile, index) => ({
      hostile,
      namespace: namespaces[(round + index) % namespaces.length] ?? '',
      dryRun: hostile.dryRunOnly || round % 2 === 0,
    })),
  ).flat();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let order = orders[next++]; order !== undefined && performance.now() < end; order = orders[next++]) {
      reviews.push(await create(order.hostile, order.namespace, order.dryRun));
      if (reviews.length % 100 === 0) await removeAll(namespaces);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  await removeAll(namespaces);
  return reviews;
}

async function removeAll(namespaces: readonly string[]): Promise<void> {
  // If a deletion fails, the deletion of the namespace removes the pods.
  for (const namespace of namespaces) await deletePods(client, namespace).catch(() => undefined);
}

const methods: AttackMethods = {
  names: () => classes.map(({ name }) => name),
  one: async (name, namespace, dryRun) => {
    const hostile = classes.find((each) => each.name === name);
    if (hostile === undefined) throw new Error(`unknown class ${name}`);
    return create(hostile, namespace, dryRun || hostile.dryRunOnly);
  },
  attack,
};
serveWorker(methods);
