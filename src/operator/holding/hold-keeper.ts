import { gateOf } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import {
  type GatedPod,
  type GateState,
  isGated,
  isOurGate,
  type PendingPod,
  pendingPod,
  pendingSelector,
} from '../../holding/pending-pod.ts';
import { type HeldCount, heldPatch, type HeldWrite, Replacements, type StateOf } from '../../holding/replacements.ts';
import { ApiError } from '../../kube/api-error.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { webhookName } from '../../selection/webhook-selectors.ts';
import { readSelectingWebhook } from '../../selection/selecting-webhook.ts';
import { webhookOwners } from '../../selection/webhook-owners.ts';
import { inSlices } from '../../steps/in-slices.ts';
import { injectorConfigOf, namespaces, pods } from '../cluster-view.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { FollowCollection } from '../restarts/followed-workloads.ts';
import { manifestContext, resyncMs } from '../settings.ts';
import type { HoldPolicies } from './hold-policies.ts';

export interface HoldKeeperOptions extends Pick<
  PassContext,
  'settings' | 'view' | 'targets' | 'reports' | 'metrics' | 'clock' | 'logger'
> {
  readonly client: Pick<LeaderClient, 'list' | 'patch' | 'delete'>;
  readonly policies: Pick<HoldPolicies, 'follow' | 'sweep' | 'allNames'>;
  readonly follow: FollowCollection;
  /** Requests a call of {@link HoldKeeper.pass}. */
  readonly wake: () => void;
  /** Requests a pass over an InjectorConfig, whose condition has changed. */
  readonly news: (injectorConfig: string) => void;
}

/** The maximum number of writes of a pass, and the pause until the next pass, in milliseconds. */
const perPass = { writes: 50, pauseMs: 250 };
/** How often to look at held pods when nothing changes, and how often if none is held, in ms. */
const idleMs = 1000;
const restMs = 10_000;
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
  #replacements = new Replacements();
  #leading: AbortSignal | undefined;
  /** The InjectorConfigs with held pods, and what the last requested status shows of them. */
  readonly #held = new Map<string, HeldCount & { readonly shown: number; readonly shownAt: number }>();

  constructor(options: HoldKeeperOptions) {
    this.#options = options;
  }

  /** Returns condition Holding of an InjectorConfig. */
  finding(injectorConfig: string): Finding {
    const held = this.#held.get(injectorConfig);
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
    if ((await policies.follow(leading)) !== undefined) return restMs;
    this.#follow(leading);
    if (!this.#pending.hasSynced || !this.#namespaces.hasSynced) return idleMs;
    const owners = this.#owners();
    await policies.sweep(owners, leading);
    const held = this.#pending.list().filter(isGated);
    const stateOf = await this.#states(held, owners, leading);
    await this.#count(held, stateOf);
    const replacements = this.#replacements;
    const pods = replacements.inOrder(held, clock.monotonic());
    let writes = 0;
    while (writes < perPass.writes) {
      const next = await inSlices(replacements.next(pods, stateOf, clock.monotonic()), () => clock.monotonic());
      if (next === undefined || leading.aborted) break;
      // Before a pod starts without its sidecar, read its namespace again: the watch may lag.
      const isReread = next.released.some((gate) => stateOf(gate) !== 'gone');
      if (isReread) await this.#readNamespace(next.pod.metadata.namespace ?? '', leading);
      const write = isReread ? replacements.decide(next.pod, stateOf, clock.monotonic()) : next;
      if (write === undefined) continue;
      await this.#write(write, leading);
      writes += 1;
    }
    if (held.length === 0) return restMs;
    return writes > 0 || replacements.isProbing(clock.monotonic()) ? perPass.pauseMs : idleMs;
  }

  /** Returns the names of the webhook configurations that InjectorConfigs and tags ask for. */
  #owners(): ReadonlySet<string> {
    const { settings, view, targets } = this.#options;
    // Without the owner of all webhooks, as during an uninstallation, none is written again.
    if (manifestContext(settings, view) === undefined) return new Set();
    const claims = targets.claims();
    const configs = claims.configs.filter(({ spec }) => !spec.paused);
    return new Set(webhookOwners({ ...claims, configs }).map(webhookName));
  }

  /** Returns what is known about the webhooks of all gates of held pods. */
  async #states(held: readonly GatedPod[], owners: ReadonlySet<string>, signal: AbortSignal): Promise<StateOf> {
    const { view, policies } = this.#options;
    const live = new Map(view.mutatingWebhooks.list().map((each) => [gateOf(each.metadata.name ?? ''), each]));
    const gates = new Set(held.flatMap((pod) => pod.held.gates.filter(isOurGate)));
    // A policy without its webhook means that its operator, perhaps another one, will restore it.
    const areAllLive = [...gates].every((gate) => live.has(gate));
    const kept = areAllLive ? [] : [...owners, ...(await policies.allNames(signal))];
    const keptGates = new Set(kept.map(gateOf));
    const stateOf = (gate: string): GateState => {
      const webhook = live.get(gate);
      if (webhook !== undefined) return this.#stateOf(webhook);
      return keptGates.has(gate) ? 'unknown' : 'gone';
    };
    const known = new Map([...gates].map((gate) => [gate, stateOf(gate)]));
    return (gate) => known.get(gate) ?? 'unknown';
  }

  #stateOf(webhook: KubernetesObject): GateState {
    const { view, targets, reports } = this.#options;
    const keysOf = (name: string) =>
      targets.configs().find(({ metadata }) => metadata.name === name)?.spec.webhook.keys;
    const selecting = view.isOurs(webhook) ? readSelectingWebhook(webhook, keysOf) : undefined;
    if (selecting === undefined) return 'unknown';
    const { injectorConfig, canary, selectors, keys } = selecting;
    return {
      isServed: [injectorConfig, canary?.injectorConfig].some((each) => each && reports.replicas(each).length > 0),
      inject: keys.inject,
      selects: (labels, namespace) => {
        const found = this.#namespaces.get(namespace);
        const { labels: ofNamespace = {} } = found?.metadata ?? {};
        return found && selectors.some((pair) => pair.namespace(ofNamespace) && pair.pod(labels));
      },
    };
  }

  /** Sends a write. Rejects if it fails for a reason that is not about this pod. */
  async #write(write: HeldWrite, signal: AbortSignal): Promise<void> {
    const { client, clock, logger } = this.#options;
    const { pod, action, attempt } = write;
    const { namespace = '', name = '', uid, resourceVersion } = pod.metadata;
    logger.debug('held pod', { namespace, name, action });
    try {
      if (action === 'Delete') {
        await client.delete(pod, { uid, resourceVersion, signal });
        this.#pending.remove(pod);
      } else {
        const patched = pendingPod(await client.patch(pod, 'merge', heldPatch(write), { signal }));
        // The watch may already have removed a pod that got its node.
        if (this.#pending.get(name, namespace) !== undefined) this.#pending.upsert(patched);
      }
    } catch (error) {
      attempt?.pace.cancel(attempt.owner);
      if (!(error instanceof ApiError) || !isOfPod(error)) throw error;
      // The pod has changed or is gone, which the watch delivers; or its write is refused, for
      // example by a policy in its namespace. Other pods must not wait for it.
      const { code, message } = error;
      if (code !== 404 && code !== 409) {
        this.#replacements.refused(pod, message, clock.monotonic());
        logger.warn('cannot release or replace a held pod', { namespace, name, action, error: message });
      }
    }
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
    this.#replacements = new Replacements();
    const [store, replacements] = [this.#pending, this.#replacements];
    store.subscribe(({ type, object }) => {
      const isReplacement = type === 'Added' && replacements.created(object, clock.monotonic());
      if (isReplacement || (type !== 'Deleted' && isGated(object))) wake();
    });
    follow({ resource: pods, store, keep: pendingPod, fieldSelector: pendingSelector, signal: leading });
    follow({ resource: namespaces, store: this.#namespaces, keep: keptOfNamespace, signal: leading });
  }

  /** Counts the held pods of each InjectorConfig, for conditions and metrics. */
  async #count(held: readonly GatedPod[], stateOf: StateOf): Promise<void> {
    const { view, metrics, news, clock } = this.#options;
    const ours = view.mutatingWebhooks.list().filter((each) => view.isOurs(each));
    const injectors = new Map(ours.map((each) => [gateOf(each.metadata.name ?? ''), injectorConfigOf(each)]));
    const counts = await inSlices(this.#replacements.count(held, stateOf, injectors), () => clock.monotonic());
    const now = clock.monotonic();
    for (const name of new Set([...this.#held.keys(), ...counts.keys()])) {
      const { shown, shownAt } = this.#held.get(name) ?? { shown: 0, shownAt: -Infinity };
      const found = counts.get(name);
      const count = found?.count ?? 0;
      metrics.held?.(name, count);
      const isNews = (shown === 0) !== (count === 0) || (shown !== count && now - shownAt >= newsMs);
      if (found === undefined) this.#held.delete(name);
      else this.#held.set(name, { ...found, ...(isNews ? { shown: count, shownAt: now } : { shown, shownAt }) });
      if (isNews) news(name);
    }
  }
}

function keptOfNamespace({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { name = '', labels = {}, resourceVersion = '' } = metadata;
  return { apiVersion, kind, metadata: { name, labels, resourceVersion } };
}

/** Reports whether an error is about one pod, not about the API server, the Lease or our token. */
function isOfPod({ code, reason }: ApiError): boolean {
  return code >= 400 && code !== 401 && code !== 429 && reason !== 'NotLeading';
}
