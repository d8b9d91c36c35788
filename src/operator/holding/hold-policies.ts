import { isDeepStrictEqual } from 'node:util';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { pathProbeKeys } from '../../api/names.ts';
import { ApiError, isNotFound, noAnswer } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import {
  holdObjects,
  type PolicyObjects,
  type PolicyVersion,
  policyVersions,
  probePolicy,
} from '../../manifests/hold-objects.ts';
import { probeConfigMap, probeSubject } from '../../manifests/probe-objects.ts';
import { heldPrefix } from '../../manifests/replaceable-pods.ts';
import type { WebhookConfiguration } from '../../manifests/webhook-configuration.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import { noWrites, type WriteOutcome } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import { ourWebhooksOf } from '../webhooks/published-webhook.ts';
import type { CheckedWebhook } from '../webhooks/reachability-check.ts';

/** Whether a webhook may ignore failed calls for replaceable pods, because a policy holds them. */
export interface HoldDecision {
  readonly isHolding: boolean;
  /** The milliseconds after which to decide again; undefined if only a change can matter. */
  readonly retryAfter?: number;
}

export interface HoldPoliciesOptions extends Pick<PassContext, 'settings' | 'view' | 'owned' | 'reports' | 'clock'> {
  readonly client: Pick<LeaderClient, 'create' | 'list' | 'listAll'>;
  /** Keeps a store in sync with our objects of a kind. */
  readonly follow: (resource: ResourceKind, store: ObjectStore) => void;
  /** Returns a new unpredictable text. */
  readonly nonce: () => string;
}

/**
 * How long all API servers of a cluster may need to use a changed webhook or policy, in
 * milliseconds. An API server compiles changed policies once a second (k8s.io/apiserver
 * `policyRefreshInterval`), after its watch has delivered them.
 */
const propagationMs = 5000;
/**
 * How long a dry run may take to show that a policy acts, the interval of attempts, and the age at
 * which a proof is repeated, in milliseconds.
 */
const proof = { timeoutMs: 5000, intervalMs: 100, repeatMs: 300_000 };
/** How long to wait for the first list of the policies, in milliseconds. */
const listingMs = 1000;
/** How long to wait before trying again what only an administrator can change, in milliseconds. */
const unavailableMs = 60_000;

/**
 * Writes the policies that hold pods, and decides when a webhook may rely on them. A webhook
 * ignores failed calls only while its live policy and bindings are exactly as desired, have been
 * shown to act, and have had the time to reach every API server. Any change first makes the webhook
 * use `spec.webhook.fallback` again, so no order of events lets a pod start without its sidecar.
 */
export class HoldPolicies {
  readonly #options: HoldPoliciesOptions;
  #version: PolicyVersion | undefined;
  /** Why Hold is not available, by metadata.name of the webhook configuration. */
  readonly #problems = new Map<string, { readonly injectorConfig: string; readonly finding: Finding }>();
  /** The identity of the policy objects that have been shown to act, and since when. */
  readonly #proven = new Map<string, Proof>();
  /** The names of the probe policies of proofs in progress. */
  readonly #proving = new Set<string>();
  #followed = false;
  /** Since when each live webhook ignores no failed call, as this process saw it. */
  readonly #quietSince = new Map<string, number>();

  constructor(options: HoldPoliciesOptions) {
    this.#options = options;
  }

  /** Returns condition HoldUnavailable of an InjectorConfig. */
  finding({ metadata: { name }, spec: { webhook } }: InjectorConfig): Finding {
    if (webhook.failurePolicy !== 'Hold') return no('HoldNotUsed', 'spec.webhook.failurePolicy is not Hold');
    const problem = [...this.#problems.values()].find(({ injectorConfig }) => injectorConfig === name);
    if (problem !== undefined) return problem.finding;
    return this.#options.view.webhooksOf(name).some(isHolding)
      ? no('HoldActive', 'while the webhook cannot be called, replaceable pods are held')
      : yes('HoldSwitching', 'no webhook relies on the policy yet');
  }

  /** Watches the policies if the API server serves them. Resolves with whether they are listed. */
  async follow(signal: AbortSignal): Promise<boolean> {
    return (await this.#obstacle(signal)) === undefined;
  }

  /**
   * Advances the policy of a webhook by one step, before the webhook is written.
   * @param desired the webhook configuration without Hold, with the selectors to use
   * @param live the live webhook configuration
   */
  async prepare(
    target: CheckedWebhook,
    desired: WebhookConfiguration,
    live: KubernetesObject | undefined,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<HoldDecision> {
    const { name = '' } = desired.metadata;
    const isIgnoring = this.#observe(name, live);
    if (target.config.spec.webhook.failurePolicy !== 'Hold') return { isHolding: false };
    try {
      const step = await this.#step(target, desired, isIgnoring, into, signal);
      if (step === undefined) this.#problems.delete(name);
      else this.#problems.set(name, { injectorConfig: target.config.metadata.name, finding: step.finding });
      return step === undefined ? { isHolding: true } : { isHolding: false, retryAfter: step.retryAfter };
    } catch (error) {
      if (!(error instanceof ApiError) || ![403, 404, 422].includes(error.code)) throw error;
      // The API server may have stopped serving policies.
      if (error.code === 404) this.#version = undefined;
      const finding = yes('PolicyRefused', `${error.message}; until then ${fallback(target)}`);
      this.#problems.set(name, { injectorConfig: target.config.metadata.name, finding });
      return { isHolding: false, retryAfter: unavailableMs };
    }
  }

  /** Removes the policy of a webhook once no API server ignores failed calls of the webhook. */
  async withdraw(name: string, into: WriteOutcome, signal: AbortSignal): Promise<void> {
    const { clock, view } = this.#options;
    const objects = this.#live(name);
    this.#problems.delete(name);
    this.#proven.delete(name);
    if (objects.length === 0) return;
    const isGone = view.mutatingWebhooks.get(name) === undefined;
    const wait = isGone ? 0 : (this.#quietSince.get(name) ?? clock.monotonic()) + propagationMs - clock.monotonic();
    if (wait > 0) into.retryAfter = Math.min(into.retryAfter ?? Infinity, wait);
    else await this.#remove(objects, signal);
  }

  /**
   * Reports whether a live webhook may stay as it is: it ignores no failed call, or its policy
   * exists and is the one that has been shown to act.
   */
  isIntact(live: KubernetesObject): boolean {
    const { name = '' } = live.metadata;
    const { settings, view } = this.#options;
    const isListed = view.policies.hasSynced && view.policyBindings.hasSynced;
    if (!isHolding(live) || (settings.holdPods === true && !isListed)) return true;
    const known = this.#proven.get(name);
    const pairs = ourWebhooksOf(live).filter((each) => each.name?.startsWith(heldPrefix)).length;
    const isThere = this.#live(name).length === pairs + 1;
    return isThere && (known === undefined || known.identity === this.#identity(name));
  }

  /** Returns the names of our policies, except those of a proof in progress. */
  names(): string[] {
    const { view } = this.#options;
    return view.policies
      .list()
      .flatMap((policy) => (view.isOurs(policy) ? (policy.metadata.name ?? []) : []))
      .filter((name) => !this.#proving.has(name));
  }

  /** Reads the names of the policies of all clients, also of other operator classes. */
  async allNames(signal: AbortSignal): Promise<string[]> {
    const resource = resourceKind(this.#version ?? policyVersions[0], 'MutatingAdmissionPolicy');
    const { items } = await this.#options.client.listAll(resource, { signal });
    return items.map(({ metadata }) => metadata.name ?? '');
  }

  /** Notes whether a live webhook ignores failed calls. */
  #observe(name: string, live: KubernetesObject | undefined): boolean {
    const isIgnoring = isHolding(live);
    if (isIgnoring) this.#quietSince.delete(name);
    else if (!this.#quietSince.has(name)) this.#quietSince.set(name, this.#options.clock.monotonic());
    return isIgnoring;
  }

  /** Returns why the webhook may not ignore failed calls yet; undefined if it may. */
  async #step(
    target: CheckedWebhook,
    desired: WebhookConfiguration,
    isIgnoring: boolean,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<HoldObstacle | undefined> {
    const { clock, reports } = this.#options;
    const { name = '' } = desired.metadata;
    const obstacle = (await this.#obstacle(signal)) ?? this.#oldReplicas(reports.notHolding());
    // After a restart, a live webhook stays as it is until the policies have been listed.
    if (isIgnoring && obstacle === unlisted) throw noAnswer('Unreachable', unlisted.finding.message);
    if (obstacle !== undefined) {
      const { reason, message } = obstacle.finding;
      return { ...obstacle, finding: yes(reason, `${message}; until then ${fallback(target)}`) };
    }
    const version = this.#version ?? policyVersions[0];
    const objects = holdObjects(desired, target, target.context, version);
    const isSame = this.#isLive(name, objects);
    const text = JSON.stringify(objects);
    const known = this.#proven.get(name);
    if (isIgnoring && isSame) return this.#provenAgain(target, version, name, text, signal);
    const waiting = (what: string, retryAfter: number) => ({
      finding: yes('HoldSwitching', `${what}; until then ${fallback(target)}`),
      retryAfter,
    });
    if (isIgnoring) {
      // Restore at once, but without a gap, what another client has changed or deleted. If this
      // fails, the webhook must use the fallback nevertheless.
      if (known?.text === text) await this.#apply(objects, into, signal).catch(ignoreApiError);
      return waiting('the policy changes once every API server uses the fallback', propagationMs);
    }
    if (!isSame) {
      const quiet = this.#quietSince.get(name) ?? clock.monotonic();
      const wait = this.#live(name).length === 0 ? 0 : quiet + propagationMs - clock.monotonic();
      if (wait > 0) return waiting('the policy changes once every API server uses the fallback', wait);
      await this.#remove(this.#live(name), signal);
      await this.#apply(objects, into, signal);
    }
    const identity = this.#identity(name);
    if (known?.identity !== identity) {
      if (!(await this.#acts(target, version, signal))) return inactive(target);
      const at = clock.monotonic();
      this.#proven.set(name, { identity, text, at, checkedAt: at });
      return waiting('the policy acts on one API server, and needs time to reach the others', propagationMs);
    }
    const wait = known.at + propagationMs - clock.monotonic();
    return wait > 0 ? waiting('the policy acts, and needs time to reach every API server', wait) : undefined;
  }

  /** Repeats the proof from time to time: an API server may stop to apply policies. */
  async #provenAgain(
    target: CheckedWebhook,
    version: PolicyVersion,
    name: string,
    text: string,
    signal: AbortSignal,
  ): Promise<HoldObstacle | undefined> {
    const now = this.#options.clock.monotonic();
    // A new leader relies on the proof of the last one, because the webhook ignores failed calls.
    const known = this.#proven.get(name) ?? { identity: this.#identity(name), text, at: -Infinity, checkedAt: now };
    this.#proven.set(name, known);
    if (now - known.checkedAt < proof.repeatMs) return undefined;
    if (!(await this.#acts(target, version, signal))) {
      // Without the proof, the next pass proves again before the webhook ignores failed calls.
      this.#proven.delete(name);
      return inactive(target);
    }
    this.#proven.set(name, { ...known, checkedAt: now });
    return undefined;
  }

  /** Returns why policies cannot be used in this cluster or by this installation, if so. */
  async #obstacle(signal: AbortSignal): Promise<HoldObstacle | undefined> {
    const { settings, view, follow, clock } = this.#options;
    if (settings.holdPods !== true) {
      const message = "this installation has no permissions for Hold: set the chart's operator.holdPods (--hold-pods)";
      return { finding: yes('HoldDisabled', message), retryAfter: unavailableMs };
    }
    if (this.#version === undefined) {
      this.#version = await this.#served(signal);
      if (this.#version === undefined) {
        const message =
          'the API server does not serve MutatingAdmissionPolicies, which are enabled from Kubernetes 1.36 on';
        return { finding: yes('HoldNotServed', message), retryAfter: unavailableMs };
      }
      if (!this.#followed) {
        follow(resourceKind(this.#version, 'MutatingAdmissionPolicy'), view.policies);
        follow(resourceKind(this.#version, 'MutatingAdmissionPolicyBinding'), view.policyBindings);
      }
      this.#followed = true;
    }
    const isListed = (): boolean => view.policies.hasSynced && view.policyBindings.hasSynced;
    const listed = Promise.all([view.policies.synced(), view.policyBindings.synced()]);
    if (!isListed()) await Promise.race([listed, pause(clock, listingMs, signal)]);
    return isListed() ? undefined : unlisted;
  }

  #oldReplicas(replicas: readonly string[]): HoldObstacle | undefined {
    if (replicas.length === 0) return undefined;
    const message = `${replicas.join(', ')} ${replicas.length === 1 ? 'does' : 'do'} not remove the gate of injected pods: upgrade all replicas`;
    return { finding: yes('HoldSwitching', message), retryAfter: 1000 };
  }

  async #served(signal: AbortSignal): Promise<PolicyVersion | undefined> {
    for (const version of policyVersions) {
      try {
        await this.#options.client.list(resourceKind(version, 'MutatingAdmissionPolicy'), { limit: 1, signal });
        return version;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    return undefined;
  }

  /** Returns the live bindings of a webhook, then its policy: the order of removal. */
  #live(name: string): KubernetesObject[] {
    const { view } = this.#options;
    const bindings = view.policyBindings.list().filter(({ spec }) => policyNameOf(spec) === name);
    const policy = view.policies.get(name);
    return [...bindings, ...(policy === undefined ? [] : [policy])];
  }

  #isLive(name: string, { policy, bindings }: PolicyObjects): boolean {
    const { view } = this.#options;
    const isSame = (desired: KubernetesObject, live: KubernetesObject | undefined): boolean =>
      live !== undefined && live.metadata.deletionTimestamp === undefined && isDeepStrictEqual(desired.spec, live.spec);
    return (
      this.#live(name).length === bindings.length + 1 &&
      isSame(policy, view.policies.get(name)) &&
      bindings.every((each) => isSame(each, view.policyBindings.get(each.metadata.name ?? '')))
    );
  }

  #identity(name: string): string {
    return JSON.stringify(this.#live(name).map(({ metadata: { uid, generation } }) => [uid, generation]));
  }

  async #apply({ policy, bindings }: PolicyObjects, into: WriteOutcome, signal: AbortSignal): Promise<void> {
    for (const each of [policy, ...bindings]) await this.#options.owned.apply(each, into, signal);
  }

  async #remove(objects: readonly KubernetesObject[], signal: AbortSignal): Promise<void> {
    for (const object of objects) await this.#options.owned.remove(object, signal);
  }

  /** Shows with dry runs that the API server applies policies, including those written before. */
  async #acts(target: CheckedWebhook, version: PolicyVersion, signal: AbortSignal): Promise<boolean> {
    const { owned, client, clock, nonce } = this.#options;
    const expected = nonce();
    const { policy, bindings } = probePolicy(target, target.context, version, expected);
    const written: KubernetesObject[] = [];
    const { name = '' } = policy.metadata;
    this.#proving.add(name);
    try {
      for (const each of [policy, ...bindings]) written.push((await owned.apply(each, noWrites(), signal)).object);
      const request = probeConfigMap(probeSubject(target), nonce(), target.context.namespace);
      const began = clock.monotonic();
      while (clock.monotonic() - began < proof.timeoutMs) {
        const { data } = await client.create(request, { dryRun: true, signal });
        if ((data as Record<string, string> | undefined)?.[pathProbeKeys.answer] === expected) return true;
        await pause(clock, proof.intervalMs, signal);
        signal.throwIfAborted();
      }
      return false;
    } finally {
      this.#proving.delete(name);
      if (!signal.aborted) await this.#remove(written.reverse(), signal);
    }
  }
}

/** Condition HoldUnavailable, and the milliseconds until the next attempt. */
interface HoldObstacle {
  readonly finding: Finding;
  readonly retryAfter: number;
}

/** The identity of the policy objects that have been shown to act, and their desired state. */
interface Proof {
  readonly identity: string;
  readonly text: string;
  /** When they were first shown to act, and when last, in milliseconds of the monotonic clock. */
  readonly at: number;
  readonly checkedAt: number;
}

function inactive(target: CheckedWebhook): HoldObstacle {
  const message = 'the API server does not apply the policy: check its admission plugin MutatingAdmissionPolicy';
  return { finding: yes('PolicyInactive', `${message}; until then ${fallback(target)}`), retryAfter: 1000 };
}

function ignoreApiError(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}

const unlisted: HoldObstacle = {
  finding: yes('HoldSwitching', 'the policies have not been listed yet'),
  retryAfter: 200,
};

/** Reports whether a webhook configuration ignores failed calls, because a policy holds pods. */
function isHolding(configuration: KubernetesObject | undefined): boolean {
  const webhooks: { name?: string; failurePolicy?: string }[] = ourWebhooksOf(configuration);
  return webhooks.some(({ name, failurePolicy }) => name?.startsWith(heldPrefix) && failurePolicy === 'Ignore');
}

function policyNameOf(spec: unknown): string | undefined {
  return (spec as { policyName?: string } | undefined)?.policyName;
}

function fallback({ config }: CheckedWebhook): string {
  return `spec.webhook.fallback (${config.spec.webhook.fallback}) applies to all pods`;
}
