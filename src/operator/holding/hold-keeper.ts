import { gateOf, replacingAnnotation } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { jobLabels } from '../../manifests/replaceable-pods.ts';
import { webhookName } from '../../manifests/webhook-configuration.ts';
import { FairShares } from '../../rollout/fair-shares.ts';
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
  type HeldAction,
  type HeldPod,
  isOurGate,
  judgeHeldPod,
  type PendingPod,
  pendingPod,
  pendingSelector,
} from './pending-pod.ts';
import { type HeldOwner, ReplacementPace } from './replacement-pace.ts';

export interface HoldKeeperOptions extends Pick<
  PassContext,
  'settings' | 'view' | 'targets' | 'reports' | 'metrics' | 'clock' | 'logger'
> {
  readonly client: Pick<LeaderClient, 'list' | 'patch' | 'delete'>;
  readonly policies: Pick<HoldPolicies, 'follow' | 'names' | 'allNames' | 'withdraw'>;
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
  /** Why a pod could not be released or replaced. */
  refusal?: string | undefined;
}

/** The maximum number of writes of a pass, and the pause until the next pass, in milliseconds. */
const perPass = { writes: 50, pauseMs: 250 };
/** How many pods are judged before the process yields to other work, such as admissions. */
const perTurn = 500;
/** How often to look at held pods when nothing changes, and how often if none is held, in ms. */
const idleMs = 1000;
const restMs = 10_000;
/** How often the status may show another number of held pods, in milliseconds. */
const newsMs = 5000;
/** How long to leave a pod alone after the API server refused to change it, in milliseconds. */
const refusedMs = 30_000;

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
  /** Shares the writes among namespaces. */
  readonly #shares = new FairShares();
  /** The pods whose change the API server refused, by uid. */
  readonly #refused = new Map<string, { readonly until: number; readonly message: string }>();
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
    const { count, since, stuck, refusal } = held;
    const isServed = this.#options.reports.replicas(injectorConfig).length > 0;
    const why = isServed
      ? 'the operator replaces them as soon as the API server reaches the webhook'
      : 'no replica of the webhook is running; the operator replaces them as soon as one serves the configuration';
    const orphans = stuck === 0 ? '' : `; ${stuck} of them have no controller that replaces them: delete these pods`;
    const refused =
      refusal === undefined ? '' : `; for at least one of them, the API server refused the write: ${refusal}`;
    const pods = count === 1 ? '1 pod waits' : `${count} pods wait`;
    const from = new Date(since).toISOString().replace(/\.\d+Z$/, 'Z');
    return yes('PodsHeld', `${pods} for the sidecar, the first since ${from}: ${why}${orphans}${refused}`);
  }

  /** Releases and replaces pods. Resolves with the milliseconds until the next pass. */
  async pass(leading: AbortSignal): Promise<number> {
    const { settings, policies, clock } = this.#options;
    if (settings.holdPods !== true) return resyncMs;
    if (!(await policies.follow(leading))) return restMs;
    this.#follow(leading);
    if (!this.#pending.hasSynced || !this.#namespaces.hasSynced) return idleMs;
    const owners = this.#owners();
    await this.#sweep(owners, leading);
    const held = this.#pending.list().filter(isHeld);
    const stateOf = await this.#states(held, owners, leading);
    this.#count(held, stateOf);
    const now = clock.monotonic();
    const paces = [...this.#paces.values()];
    const heldOwners = held.flatMap((pod) => ownerOf(pod) ?? []);
    for (const pace of paces) {
      pace.expire(now);
      pace.keepOnly(heldOwners);
    }
    for (const [uid, { until }] of this.#refused) if (now >= until) this.#refused.delete(uid);
    const failuresOf = (pod: Held): number => {
      const owner = ownerOf(pod);
      return owner === undefined ? 0 : Math.max(0, ...paces.map((pace) => pace.failuresOf(owner)));
    };
    const failures = new Map(held.map((pod) => [pod, failuresOf(pod)]));
    const order = (pod: Held): number => failures.get(pod) ?? 0;
    // Namespaces take turns. In each, workloads whose attempts failed come last, and otherwise the
    // oldest pods first.
    held.sort((one, other) => order(one) - order(other) || one.held.since - other.held.since);
    let [judged, writes] = [0, 0];
    for (const pod of this.#shares.inTurns(held, ({ metadata }) => metadata.namespace ?? '')) {
      if ((judged += 1) % perTurn === 0) await pause(clock, 0, leading);
      if (writes >= perPass.writes || leading.aborted) return perPass.pauseMs;
      if (this.#refused.has(pod.metadata.uid ?? '')) continue;
      if (!(await this.#act(pod, stateOf, leading))) continue;
      writes += 1;
      this.#shares.serve(pod.metadata.namespace ?? '');
    }
    if (held.length === 0) return restMs;
    const isBusy = writes > 0 || paces.some((pace) => pace.isProbing(clock.monotonic()));
    return isBusy ? perPass.pauseMs : idleMs;
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

  /** Returns what is known about the webhooks of all gates of held pods. */
  async #states(
    held: readonly Held[],
    owners: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<(gate: string) => GateState> {
    const { view, policies } = this.#options;
    const live = new Map(view.mutatingWebhooks.list().map((each) => [gateOf(each.metadata.name ?? ''), each]));
    const gates = new Set(held.flatMap((pod) => pod.held.gates.filter(isOurGate)));
    // A policy without its webhook means that its operator, perhaps another one, will restore it.
    const areAllLive = [...gates].every((gate) => live.has(gate));
    const kept = areAllLive ? [] : [...owners, ...(await policies.allNames(signal))];
    const keptGates = new Set(kept.map(gateOf));
    const states = [...gates].map((gate): [string, GateState] => {
      const webhook = live.get(gate);
      if (webhook !== undefined) return [gate, this.#stateOf(webhook)];
      return [gate, keptGates.has(gate) ? 'unknown' : 'gone'];
    });
    const known = new Map(states);
    return (gate) => known.get(gate) ?? 'unknown';
  }

  #stateOf(webhook: KubernetesObject): GateState {
    const { view, targets } = this.#options;
    const keysOf = (name: string) =>
      targets.configs().find(({ metadata }) => metadata.name === name)?.spec.webhook.keys;
    const selecting = view.isOurs(webhook) ? readSelectingWebhook(webhook, keysOf) : undefined;
    if (selecting === undefined) return 'unknown';
    const { injectorConfig, canary, selectors, keys } = selecting;
    return {
      injectorConfigs: [injectorConfig, ...(canary === undefined ? [] : [canary.injectorConfig])],
      inject: keys.inject,
      selects: (labels: Labels, namespace: string) => {
        const found = this.#namespaces.get(namespace);
        const { labels: ofNamespace = {} } = found?.metadata ?? {};
        return found && selectors.some((pair) => pair.namespace(ofNamespace) && pair.pod(labels));
      },
    };
  }

  /** Acts on a pod. Resolves with whether a write was sent. */
  async #act(pod: Held, stateOf: (gate: string) => GateState, signal: AbortSignal): Promise<boolean> {
    const { clock, reports, logger } = this.#options;
    const { metadata, held } = pod;
    const { namespace = '', name = '', uid = '' } = metadata;
    const gates = held.gates.filter(isOurGate);
    const actionOf = (gate: string): HeldAction => judgeHeldPod(held, namespace, stateOf(gate));
    // Before a pod starts without its sidecar, read the labels of its namespace: the watch may lag.
    if (gates.some((gate) => actionOf(gate) === 'Release' && stateOf(gate) !== 'gone'))
      await this.#readNamespace(namespace, signal);
    const released = gates.filter((gate) => actionOf(gate) === 'Release');
    const gate = released[0] ?? gates.find((each) => actionOf(each) !== 'Stay');
    if (gate === undefined) return false;
    const action = actionOf(gate);
    const state = stateOf(gate);
    const owner = action === 'Release' ? undefined : ownerOf(pod);
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
      if (action === 'Release') await this.#release(pod, released, signal);
      else if (action === 'Delete') await this.#delete(pod, signal);
      else await this.#separate(pod, signal);
    } catch (error) {
      if (owner !== undefined) pace.cancel(owner);
      if (!(error instanceof ApiError) || !isOfPod(error)) throw error;
      // The pod has changed or is gone, which the watch delivers; or its write is refused, for
      // example by a policy in its namespace. Other pods must not wait for it.
      const { code, message } = error;
      if (code === 404 || code === 409) return true;
      this.#refused.set(uid, { until: clock.monotonic() + refusedMs, message: message.slice(0, 300) });
      logger.warn('cannot release or replace a held pod', { namespace, name, action, error: message });
    }
    return true;
  }

  async #release(pod: Held, released: readonly string[], signal: AbortSignal): Promise<void> {
    const schedulingGates = pod.held.gates.filter((each) => !released.includes(each)).map((name) => ({ name }));
    await this.#patch(pod, {}, { spec: { schedulingGates } }, signal);
  }

  async #delete(pod: Held, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = pod.metadata;
    await this.#options.client.delete(pod, { uid, resourceVersion, signal });
    this.#pending.remove(pod);
  }

  async #separate(pod: Held, signal: AbortSignal): Promise<void> {
    const labels = Object.fromEntries(jobLabels.map((each) => [each, null]));
    await this.#patch(pod, { labels, annotations: { [replacingAnnotation]: pod.ownerUid } }, {}, signal);
  }

  /** Sends a patch that fails if the pod has changed since it was read. */
  async #patch(pod: Held, metadata: object, fields: object, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = pod.metadata;
    const body = { metadata: { uid, resourceVersion, ...metadata }, ...fields };
    const patched = pendingPod(await this.#options.client.patch(pod, 'merge', body, { signal }));
    // The watch may already have removed a pod that got its node.
    if (this.#pending.get(pod.metadata.name ?? '', pod.metadata.namespace) !== undefined) this.#pending.upsert(patched);
  }

  async #readNamespace(name: string, signal: AbortSignal): Promise<void> {
    const { items } = await this.#options.client.list(namespaces, { fieldSelector: `metadata.name=${name}`, signal });
    for (const each of items) this.#namespaces.upsert(keptOfNamespace(each));
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
      const { held } = object;
      const owner = ownerOf(object);
      let isNews = type !== 'Deleted' && held !== undefined;
      if (type === 'Added' && owner !== undefined) {
        for (const [gate, pace] of this.#paces) {
          const isReplacement = pace.created(owner, held?.gates.includes(gate) === true, clock.monotonic());
          isNews ||= isReplacement;
        }
      }
      if (isNews) wake();
    });
    follow({ resource: pods, store, keep: pendingPod, fieldSelector: pendingSelector, signal: leading });
    follow({ resource: namespaces, store: this.#namespaces, keep: keptOfNamespace, signal: leading });
  }

  /** Counts the held pods of each InjectorConfig, for conditions and metrics. */
  #count(held: readonly Held[], stateOf: (gate: string) => GateState): void {
    const { view, metrics, news, clock } = this.#options;
    const counts = new Map<string, HeldCount>();
    const injectors = new Map(
      view.mutatingWebhooks
        .list()
        .filter((each) => view.isOurs(each))
        .map((each) => [gateOf(each.metadata.name ?? ''), injectorConfigOf(each)]),
    );
    for (const { held: pod, metadata } of held) {
      for (const gate of pod.gates.filter(isOurGate)) {
        const name = injectors.get(gate);
        if (name === undefined) continue;
        const known = counts.get(name) ?? { count: 0, since: pod.since, stuck: 0 };
        known.count += 1;
        const isSelected = typeof stateOf(gate) !== 'string';
        if (isSelected && judgeHeldPod(pod, metadata.namespace ?? '', stateOf(gate)) === 'Stay' && !pod.isSeparated)
          known.stuck += 1;
        known.refusal ??= this.#refused.get(metadata.uid ?? '')?.message;
        counts.set(name, known);
      }
    }
    this.#counts = counts;
    const now = clock.monotonic();
    for (const name of new Set([...this.#told.keys(), ...counts.keys()])) {
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

function ownerOf({ metadata: { namespace = '' }, ownerUid }: PendingPod): HeldOwner | undefined {
  return ownerUid === undefined ? undefined : { uid: ownerUid, namespace };
}

/** Reports whether an error is about one pod, not about the API server, the Lease or our token. */
function isOfPod({ code, reason }: ApiError): boolean {
  return code >= 400 && code !== 401 && code !== 429 && reason !== 'NotLeading';
}

type Held = PendingPod & { readonly held: HeldPod };

function isHeld(pod: PendingPod): pod is Held {
  return pod.held !== undefined;
}
