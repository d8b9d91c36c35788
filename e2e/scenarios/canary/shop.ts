import { setTimeout as sleep } from 'node:timers/promises';
import { rolloutActionAnnotation, type RolloutVerb } from '../../../src/api/rollout-action.ts';
import type { RolloutState } from '../../../src/api/rollout-status.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import { markDefect, marksOf } from '../../harness/load/marked-config.ts';
import { isPodCreation, refusedCreations } from '../../harness/lost-admissions.ts';
import type { Pod } from '../../harness/pod.ts';
import { revisionTags, type RevisionTagObject } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { deployment, podsOf, type WorkloadOptions } from '../../harness/workloads.ts';

/** A pod as it was stored. */
interface Sighting {
  readonly uid: string;
  /** Whole seconds, in milliseconds since 1970. */
  readonly created: number;
  /** The InjectorConfig that its annotation names. */
  readonly maker: string;
}

export interface ShopOptions {
  /** How many pods are deleted at a time, so that their Deployments make new ones, and how often (milliseconds); 4 every 250 ms unless told. */
  readonly churn?: { readonly pods: number; readonly roundMs: number };
  /** Whether it opens when all pods are ready, or already when they are there: what injects them may make them fail. */
  readonly opensReady?: boolean;
}

/** Deployments that follow a tag; some of their pods are deleted all the time, so that new ones are created all along. */
export class Shop {
  readonly namespace: string;
  readonly #workloads: Set<string>;
  readonly #churning: NonNullable<ShopOptions['churn']>;
  readonly #context: ScenarioContext;
  readonly #audit: AuditLog;
  /** Every pod that was seen, by Deployment. */
  readonly #seen = new Map<string, Map<string, Sighting>>();
  readonly #defects: string[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #turn = 0;

  private constructor(
    context: ScenarioContext,
    audit: AuditLog,
    namespace: string,
    count: number,
    churn: NonNullable<ShopOptions['churn']>,
  ) {
    this.#context = context;
    this.#audit = audit;
    this.#churning = churn;
    this.namespace = namespace;
    this.#workloads = new Set(Array.from({ length: count }, (_, index) => `work-${String(index).padStart(3, '0')}`));
  }

  /** Makes a namespace that follows the tag, and so many Deployments of one pod in it; all are ready when this resolves. */
  static async open(
    context: ScenarioContext,
    audit: AuditLog,
    tag: string,
    count: number,
    { churn = { pods: 4, roundMs: 250 }, opensReady = true }: ShopOptions = {},
  ): Promise<Shop> {
    const shop = new Shop(context, audit, await context.namespace(tag, { 'istio.io/rev': tag }), count, churn);
    for (const name of shop.workloads) await context.client.create(deployment(shop.namespace, name));
    await waitFor(
      `${count} Deployments to have ${opensReady ? 'ready ' : ''}pods`,
      async () => (opensReady ? await shop.ready() : await shop.stored()).size === count,
      { timeout: 60_000, interval: 250 },
    );
    shop.#running = shop.#churn();
    context.atEnd(() => shop.close());
    return shop;
  }

  /** The Deployments that there are. */
  get workloads(): readonly string[] {
    return [...this.#workloads];
  }

  /** One more Deployment; resolves with the InjectorConfig that has made its first pod. */
  async add(name: string, options: WorkloadOptions = {}): Promise<string> {
    const before = new Set(this.#seen.get(name)?.keys());
    await this.#context.client.create(deployment(this.namespace, name, options));
    this.#workloads.add(name);
    return waitFor(`a pod of ${name}`, async () => {
      await this.#look();
      return [...(this.#seen.get(name)?.values() ?? [])].find(({ uid }) => !before.has(uid))?.maker;
    });
  }

  /** One Deployment less; its pods are gone when this resolves. */
  async remove(name: string): Promise<void> {
    this.#workloads.delete(name);
    await this.#context.client.delete(deployment(this.namespace, name), { propagationPolicy: 'Background' });
    await waitFor(`the pods of ${name} to go`, async () => !(await this.stored()).has(name));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** The Deployments that have a ready pod. */
  async ready(): Promise<Set<string>> {
    const pods = await this.#look();
    return new Set(pods.filter(isReady).map(workloadOf));
  }

  /** Which InjectorConfigs have made the pods that are stored now, by Deployment. */
  async stored(): Promise<Map<string, Set<string>>> {
    return makersOf(await this.#look());
  }

  /** Has every pod made anew, and tells which InjectorConfigs have made each Deployment's pods since. */
  async renew(): Promise<Map<string, Set<string>>> {
    const old = new Set((await this.#look()).map(({ metadata }) => metadata.uid));
    await this.#delete(await podsOf(this.#context.client, this.namespace));
    return waitFor(
      'every pod to be made anew',
      async () => {
        const pods = await this.#look();
        if (pods.some(({ metadata }) => old.has(metadata.uid))) return false;
        const makers = makersOf(pods);
        return makers.size === this.#workloads.size && makers;
      },
      { interval: 150 },
    );
  }

  /** The Deployments that got a pod of an InjectorConfig after one of the other, by whole seconds. */
  flippedBack(from: string, to: string): string[] {
    return [...this.#seen.keys()].filter((name) => {
      const seen = [...(this.#seen.get(name)?.values() ?? [])];
      const first = Math.min(...seen.filter(({ maker }) => maker === from).map(({ created }) => created));
      return seen.some(({ maker, created }) => maker === to && created > first);
    });
  }

  /** The InjectorConfigs that have made any pod that was seen. */
  makers(): Set<string> {
    return new Set([...this.#seen.values()].flatMap((each) => [...each.values()].map(({ maker }) => maker)));
  }

  /** Pods that were refused, stored without a sidecar, or made of two configurations; and how many were created. */
  lost(): { readonly created: number; readonly lost: readonly string[] } {
    const creations = this.#audit
      .events()
      .filter((event) => isPodCreation(event) && event.objectRef?.namespace === this.namespace);
    const refused = refusedCreations(creations).map(({ description }) => description);
    const created = creations.filter(({ responseStatus }) => responseStatus?.code === 201).length;
    return { created, lost: [...refused, ...this.#defects] };
  }

  async #churn(): Promise<void> {
    const { pods: perRound, roundMs } = this.#churning;
    while (!this.#stop.signal.aborted) {
      await sleep(roundMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      const pods = await this.#look().catch(() => []);
      const some = Array.from({ length: perRound }, (_, index) => pods[(this.#turn + index * 7) % pods.length]);
      this.#turn += 3;
      await this.#delete(some.filter((pod) => pod !== undefined));
    }
  }

  async #delete(pods: readonly Pod[]): Promise<void> {
    const { client } = this.#context;
    await Promise.all(
      pods.map((pod) => client.delete({ ...pod, apiVersion: 'v1', kind: 'Pod' }).catch(() => undefined)),
    );
  }

  async #look(): Promise<Pod[]> {
    const all = await podsOf(this.#context.client, this.namespace);
    for (const pod of all) {
      const { uid = '', creationTimestamp = '', name = '' } = pod.metadata;
      const seen = this.#seen.get(workloadOf(pod)) ?? new Map<string, Sighting>();
      this.#seen.set(workloadOf(pod), seen);
      if (seen.has(uid)) continue;
      seen.set(uid, { uid, created: Date.parse(creationTimestamp), maker: makerOf(pod) });
      const defect = markDefect(pod);
      if (defect !== undefined) this.#defects.push(`pod ${this.namespace}/${name}: ${defect.what}`);
    }
    return all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }
}

/** Waits until the rollout of a tag is so far. */
export async function waitForRollout(
  context: ScenarioContext,
  tag: string,
  what: string,
  isSo: (rollout: RolloutState) => boolean,
  timeout = 30_000,
): Promise<RolloutState> {
  return waitFor(
    `the rollout of ${tag} to be ${what}`,
    async () => {
      const found = await context.client.get<RevisionTagObject>(revisionTags, tag);
      const rollout = found.status?.['rollout'] as RolloutState | undefined;
      if (rollout !== undefined && isSo(rollout)) return rollout;
      throw new Error(`it says ${JSON.stringify(rollout)}`);
    },
    { timeout, interval: 100 },
  );
}

/** Asks for something as a person does. */
export async function ask(context: ScenarioContext, tag: string, verb: RolloutVerb, nonce: string): Promise<void> {
  const target = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'RevisionTag', metadata: { name: tag } };
  const annotations = { [rolloutActionAnnotation]: `${verb}:${nonce}` };
  await context.client.patch(target, 'merge', { metadata: { annotations } });
}

interface WebhookConfiguration {
  webhooks?: { clientConfig: { service: { path: string } } }[];
}

/** Where the webhooks of a tag lead. */
export async function pathOf(context: ScenarioContext, tag: string): Promise<string> {
  const kind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
  const found = await context.client.get(kind, `sidecar-injector-tag-${tag}`);
  const paths = new Set((found as WebhookConfiguration).webhooks?.map(({ clientConfig }) => clientConfig.service.path));
  return [...paths].join(' and ');
}

/** The Deployment of a pod of {@link deployment}. */
function workloadOf(pod: Pod): string {
  return pod.metadata.labels?.['app'] ?? '';
}

function makersOf(pods: readonly Pod[]): Map<string, Set<string>> {
  const makers = new Map<string, Set<string>>();
  for (const pod of pods) {
    const name = workloadOf(pod);
    makers.set(name, (makers.get(name) ?? new Set()).add(makerOf(pod)));
  }
  return makers;
}

function makerOf(pod: Pod): string {
  return marksOf(pod).configuration?.split('.')[0] ?? 'none';
}

function isReady(pod: Pod): boolean {
  const { conditions = [] } = (pod as { status?: { conditions?: { type: string; status: string }[] } }).status ?? {};
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
