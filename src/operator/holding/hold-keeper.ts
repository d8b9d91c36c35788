import { gateOf, gatePrefix, replacingAnnotation } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { isConflict, isNotFound } from '../../kube/api-error.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { jobLabels } from '../../manifests/replaceable-pods.ts';
import { webhookName } from '../../manifests/webhook-configuration.ts';
import type { Labels } from '../../selection/label-selector.ts';
import { readSelectingWebhook } from '../../selection/selecting-webhook.ts';
import { webhookOwners } from '../../selection/webhook-owners.ts';
import { injectorConfigOf, namespaces, pods } from '../cluster-view.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import { noWrites } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { FollowCollection } from '../restarts/followed-workloads.ts';
import { manifestContext, resyncMs } from '../settings.ts';
import type { HoldPolicies } from './hold-policies.ts';
import {
  type GateState,
  type HeldPod,
  judgeHeldPod,
  type PendingPod,
  pendingPod,
  pendingSelector,
} from './pending-pod.ts';
import { ReplacementPace } from './replacement-pace.ts';

export interface HoldKeeperOptions extends Pick<
  PassContext,
  'settings' | 'view' | 'targets' | 'reports' | 'metrics' | 'clock' | 'logger'
> {
  readonly client: Pick<LeaderClient, 'list' | 'patch' | 'delete'>;
  readonly policies: Pick<HoldPolicies, 'follow' | 'names' | 'exists' | 'withdraw'>;
  readonly follow: FollowCollection;
  /** Requests a call of {@link HoldKeeper.pass}. */
  readonly wake: () => void;
  /** Requests a pass over an InjectorConfig, whose condition has changed. */
  readonly news: (injectorConfig: string) => void;
}

/** The held pods of an InjectorConfig. */
interface HeldCount {
  count: number;
  /** The creation time of the oldest pod, in milliseconds since 1970. */
  since: number;
  /** The number of pods that no controller replaces. */
  stuck: number;
}

/** The maximum number of writes of a pass, and the pause until the next pass, in milliseconds. */
const perPass = { writes: 50, pauseMs: 250 };
/** How often to look at held pods when nothing changes, in milliseconds. */
const idleMs = 1000;
/** How often the status may show another number of held pods, in milliseconds. */
const newsMs = 5000;

/**
 * Looks after held pods while this process leads. Releases those that need no sidecar any more, and
 * replaces all others as soon as injection works. The state is in the pods: a new leader continues
 * where the last one stopped.
 */
export class HoldKeeper {
  readonly #options: HoldKeeperOptions;
  #pending = new ObjectStore<PendingPod>();
  #namespaces = new ObjectStore();
  #leading: AbortSignal | undefined;
  readonly #paces = new Map<string, ReplacementPace>();
  #counts = new Map<string, HeldCount>();
  /** The number of held pods in the last requested status, and when it was requested. */
  readonly #told = new Map<string, { readonly count: number; readonly at: number }>();

  constructor(options: HoldKeeperOptions) {
    this.#options = options;
  }

  /** Returns condition Holding of an InjectorConfig. */
  finding(injectorConfig: string): Finding {
    const held = this.#counts.get(injectorConfig);
    if (held === undefined) return no('NoPodHeld', 'no pod waits for its sidecar');
    const { count, since, stuck } = held;
    const isServed = this.#options.reports.replicas(injectorConfig).length > 0;
    const why = isServed
      ? 'the operator replaces them as soon as the API server reaches the webhook'
      : 'no replica of the webhook is running; the operator replaces them as soon as one serves the configuration';
    const orphans = stuck === 0 ? '' : `; ${stuck} of them have no controller that replaces them: delete these pods`;
    const pods = count === 1 ? '1 pod waits' : `${count} pods wait`;
    const from = new Date(since).toISOString().replace(/\.\d+Z$/, 'Z');
    return yes('PodsHeld', `${pods} for the sidecar, the first since ${from}: ${why}${orphans}`);
  }

  /** Releases and replaces pods. Resolves with the milliseconds until the next pass. */
  async pass(leading: AbortSignal): Promise<number> {
    const { settings, policies, clock } = this.#options;
    if (settings.holdPods !== true || !(await policies.follow(leading))) return resyncMs;
    this.#follow(leading);
    if (!this.#pending.hasSynced || !this.#namespaces.hasSynced) return idleMs;
    const owners = this.#owners();
    await this.#sweep(owners, leading);
    const held = this.#pending
      .list()
      .filter(isHeld)
      .sort((one, other) => one.held.since - other.held.since);
    const webhooks = this.#webhooks(owners);
    const states = new Map<string, GateState>();
    for (const gate of new Set(held.flatMap((pod) => pod.held.gates.filter(isOurGate))))
      states.set(gate, await this.#stateOf(gate, webhooks.get(gate), owners, leading));
    const stateOf = (gate: string): GateState => states.get(gate) ?? 'unknown';
    this.#count(held, webhooks, stateOf);
    const now = clock.monotonic();
    const uids = new Set(held.flatMap(({ ownerUid }) => ownerUid ?? []));
    for (const pace of this.#paces.values()) {
      pace.expire(now);
      pace.keepOnly(uids);
    }
    let writes = 0;
    for (const pod of held) {
      if (writes >= perPass.writes || leading.aborted) return perPass.pauseMs;
      for (const gate of pod.held.gates.filter(isOurGate)) {
        if (!(await this.#act(pod, gate, stateOf(gate), leading))) continue;
        writes += 1;
        break;
      }
    }
    if (held.length === 0) return idleMs * 10;
    return writes > 0 ? perPass.pauseMs : idleMs;
  }

  /** Returns the names of the webhook configurations that InjectorConfigs and tags ask for. */
  #owners(): ReadonlySet<string> {
    const { settings, view, targets } = this.#options;
    // Without the owner of all webhooks, as during an uninstallation, none is written again.
    if (manifestContext(settings, view) === undefined) return new Set();
    const claims = targets.claims();
    const configs = claims.configs.filter(
      ({ metadata, spec }) => metadata.deletionTimestamp === undefined && !spec.paused,
    );
    return new Set(webhookOwners({ ...claims, configs }).map(webhookName));
  }

  /** Removes policies whose webhook is gone for good, for example after a crash in between. */
  async #sweep(owners: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { view, policies } = this.#options;
    for (const name of policies.names()) {
      if (owners.has(name) || view.mutatingWebhooks.get(name) !== undefined) continue;
      await policies.withdraw(name, noWrites(), signal);
    }
  }

  /** Returns the names of the webhook configurations that exist or are asked for, by gate. */
  #webhooks(owners: ReadonlySet<string>): ReadonlyMap<string, string> {
    const { view } = this.#options;
    const live = view.mutatingWebhooks.list().map(({ metadata }) => metadata.name ?? '');
    const policies = view.policies.list().map(({ metadata }) => metadata.name ?? '');
    return new Map([...owners, ...live, ...policies].map((name) => [gateOf(name), name]));
  }

  async #stateOf(
    gate: string,
    webhook: string | undefined,
    owners: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<GateState> {
    const { view, targets, policies } = this.#options;
    const live = webhook === undefined ? undefined : view.mutatingWebhooks.get(webhook);
    if (live === undefined) {
      // The policy of another operator class means that this operator will restore its webhook.
      const name = webhook ?? gate.slice(gatePrefix.length);
      return owners.has(name) || (await policies.exists(name, signal)) ? 'unknown' : 'gone';
    }
    const keysOf = (name: string) =>
      targets.configs().find(({ metadata }) => metadata.name === name)?.spec.webhook.keys;
    const selecting = view.isOurs(live) ? readSelectingWebhook(live, keysOf) : undefined;
    if (selecting === undefined) return 'unknown';
    const { injectorConfig, canary, selectors } = selecting;
    return {
      injectorConfigs: [injectorConfig, ...(canary === undefined ? [] : [canary.injectorConfig])],
      selects: (labels: Labels, namespace: string) => {
        const found = this.#namespaces.get(namespace);
        const { labels: ofNamespace = {} } = found?.metadata ?? {};
        return found && selectors.some((pair) => pair.namespace(ofNamespace) && pair.pod(labels));
      },
    };
  }

  /** Acts on a pod. Resolves with whether a write was sent. */
  async #act(pod: Held, gate: string, state: GateState, signal: AbortSignal): Promise<boolean> {
    const { clock, reports, logger } = this.#options;
    const { metadata, held, ownerUid } = pod;
    const { namespace = '', name = '' } = metadata;
    const action = judgeHeldPod(held, namespace, state);
    if (action === 'Stay') return false;
    // Before a pod starts without its sidecar, read the labels of its namespace: the watch may lag.
    if (action === 'Release' && state !== 'gone') {
      await this.#readNamespace(namespace, signal);
      if (judgeHeldPod(held, namespace, state) !== 'Release') return false;
    }
    const owner = action === 'Release' || ownerUid === undefined ? undefined : { uid: ownerUid, namespace };
    const pace = this.#paces.get(gate) ?? new ReplacementPace();
    if (owner !== undefined && typeof state !== 'string') {
      // Without a replica, every attempt would fail.
      if (state.injectorConfigs.every((each) => reports.replicas(each).length === 0)) return false;
      this.#paces.set(gate, pace);
      if (!pace.allows(owner, clock.monotonic())) return false;
      // Begin before the write: the watch may deliver the new pod before the answer arrives.
      pace.begin(owner, clock.monotonic());
    }
    logger.debug('held pod', { namespace, name, action });
    try {
      await this.#write(pod, gate, action, signal);
    } catch (error) {
      if (owner !== undefined) pace.cancel(owner);
      // The pod has changed or is gone; the watch delivers this.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    return true;
  }

  async #readNamespace(name: string, signal: AbortSignal): Promise<void> {
    const { items } = await this.#options.client.list(namespaces, { fieldSelector: `metadata.name=${name}`, signal });
    for (const each of items) this.#namespaces.upsert(keptOfNamespace(each));
  }

  /** Sends one write, which fails if the pod has changed since it was read. */
  async #write(pod: Held, gate: string, action: 'Release' | 'Delete' | 'SeparateFromJob', signal: AbortSignal) {
    const { client } = this.#options;
    const { uid, resourceVersion } = pod.metadata;
    if (action === 'Delete') {
      await client.delete(pod, { uid, resourceVersion, signal });
      this.#pending.remove(pod);
      return;
    }
    const precondition = { uid, resourceVersion };
    const schedulingGates = pod.held.gates.filter((each) => each !== gate).map((name) => ({ name }));
    const labels = Object.fromEntries(jobLabels.map((each) => [each, null]));
    const patch =
      action === 'Release'
        ? { metadata: precondition, spec: { schedulingGates } }
        : { metadata: { ...precondition, labels, annotations: { [replacingAnnotation]: pod.ownerUid } } };
    this.#pending.upsert(pendingPod(await client.patch(pod, 'merge', patch, { signal })));
  }

  /** Watches pods without a node, and namespaces, until this process stops leading. */
  #follow(leading: AbortSignal): void {
    if (this.#leading === leading) return;
    this.#leading = leading;
    const { follow, clock, wake } = this.#options;
    this.#pending = new ObjectStore<PendingPod>();
    this.#namespaces = new ObjectStore();
    this.#paces.clear();
    const store = this.#pending;
    store.subscribe(({ type, object }) => {
      const { held, ownerUid } = object;
      let isNews = type !== 'Deleted' && held !== undefined;
      if (type === 'Added' && ownerUid !== undefined) {
        for (const [gate, pace] of this.#paces) {
          const isReplacement = pace.created(ownerUid, held?.gates.includes(gate) === true, clock.monotonic());
          isNews ||= isReplacement;
        }
      }
      if (isNews) wake();
    });
    follow({ resource: pods, store, keep: pendingPod, fieldSelector: pendingSelector, signal: leading });
    follow({ resource: namespaces, store: this.#namespaces, keep: keptOfNamespace, signal: leading });
  }

  /** Counts the held pods of each InjectorConfig, for conditions and metrics. */
  #count(held: readonly Held[], webhooks: ReadonlyMap<string, string>, stateOf: (gate: string) => GateState): void {
    const { view, metrics, news, clock } = this.#options;
    const counts = new Map<string, HeldCount>();
    for (const { held: pod, metadata } of held) {
      for (const gate of pod.gates.filter(isOurGate)) {
        const webhook = view.mutatingWebhooks.get(webhooks.get(gate) ?? '');
        const name = webhook && view.isOurs(webhook) ? injectorConfigOf(webhook) : undefined;
        if (name === undefined) continue;
        const known = counts.get(name) ?? { count: 0, since: pod.since, stuck: 0 };
        known.count += 1;
        const isSelected = typeof stateOf(gate) !== 'string';
        if (isSelected && judgeHeldPod(pod, metadata.namespace ?? '', stateOf(gate)) === 'Stay' && !pod.isSeparated)
          known.stuck += 1;
        counts.set(name, known);
      }
    }
    const before = this.#counts;
    this.#counts = counts;
    const now = clock.monotonic();
    for (const name of new Set([...before.keys(), ...this.#told.keys(), ...counts.keys()])) {
      const count = counts.get(name)?.count ?? 0;
      const told = this.#told.get(name) ?? { count: 0, at: -Infinity };
      metrics.held?.(name, count);
      const isNews = (told.count === 0) !== (count === 0);
      if (!isNews && (told.count === count || now - told.at < newsMs)) continue;
      if (count === 0) this.#told.delete(name);
      else this.#told.set(name, { count, at: now });
      news(name);
    }
  }
}

function keptOfNamespace({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { name = '', labels = {}, resourceVersion = '' } = metadata;
  return { apiVersion, kind, metadata: { name, labels, resourceVersion } };
}

function isOurGate(gate: string): boolean {
  return gate.startsWith(gatePrefix);
}

type Held = PendingPod & { readonly held: HeldPod };

function isHeld(pod: PendingPod): pod is Held {
  return pod.held !== undefined;
}
