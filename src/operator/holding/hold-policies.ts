import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { pathProbeKeys } from '../../api/names.ts';
import { decideHold, identityOf, type PolicyProof, provenNow, quietLeft } from '../../holding/decide-hold.ts';
import { ApiError, ignoreNotFound, noAnswer } from '../../kube/api-error.ts';
import { pause } from '../../kube/clock.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import { holdObjects, type PolicyVersion, policyVersions, probePolicy } from '../../manifests/hold-objects.ts';
import { probeConfigMap, probeSubject } from '../../manifests/probe-objects.ts';
import { heldPrefix } from '../../manifests/replaceable-pods.ts';
import type { WebhookConfiguration } from '../../manifests/webhook-configuration.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import type { ObjectWrite } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { ConditionReason } from '../reasons.ts';
import { ourWebhooksOf } from '../webhooks/published-webhook.ts';
import type { CheckedWebhook } from '../webhooks/reachability-check.ts';

/** Whether a webhook may ignore failed calls for replaceable pods, because a policy holds them. */
export interface HoldDecision {
  readonly isHolding: boolean;
  readonly writes: readonly ObjectWrite[];
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

/** How long a dry run may take to show that a policy acts, and the interval of attempts, in ms. */
const proving = { timeoutMs: 5000, intervalMs: 100 };
/** How long to wait for the first list of the policies, in milliseconds. */
const listingMs = 1000;
/** How long to wait before trying again what only an administrator can change, in milliseconds. */
const unavailableMs = 60_000;

/** What this process knows about a webhook configuration. */
interface KnownWebhook {
  /** See `HoldFacts`, as this process saw it. */
  quietSince?: number | undefined;
  proof?: PolicyProof | undefined;
  /** Why Hold is not available, and for which InjectorConfig. */
  problem?: { readonly injectorConfig: string; readonly finding: Finding } | undefined;
  /** The name of the probe policy of a proof in progress. */
  probe?: string | undefined;
}

/**
 * Writes the policies that hold pods, as `decideHold` says. A webhook ignores failed calls only
 * while its live policy and bindings are exactly as desired, have been shown to act, and have had
 * the time to reach every API server. Any change first makes the webhook use
 * `spec.webhook.fallback` again, so no order of events lets a pod start without its sidecar.
 */
export class HoldPolicies {
  readonly #options: HoldPoliciesOptions;
  #version: PolicyVersion | undefined;
  #isFollowing = false;
  /** By metadata.name of the webhook configuration. */
  readonly #webhooks = new Map<string, KnownWebhook>();

  constructor(options: HoldPoliciesOptions) {
    this.#options = options;
  }

  /** Returns condition HoldUnavailable of an InjectorConfig. */
  finding({ metadata: { name }, spec: { webhook } }: InjectorConfig): Finding {
    if (webhook.failurePolicy !== 'Hold') return no('HoldNotUsed', 'spec.webhook.failurePolicy is not Hold');
    const known = [...this.#webhooks.values()].find(({ problem }) => problem?.injectorConfig === name);
    if (known?.problem !== undefined) return known.problem.finding;
    return this.#options.view.webhooksOf(name).some(isHolding)
      ? no('HoldActive', 'while the webhook cannot be called, replaceable pods are held')
      : yes('HoldSwitching', 'no webhook relies on the policy yet');
  }

  /**
   * Watches the policies. Resolves, once they are listed, with undefined; or with the reason why
   * policies cannot be used in this cluster or by this installation.
   */
  async follow(signal: AbortSignal): Promise<HoldObstacle | undefined> {
    const { settings, view, follow, clock } = this.#options;
    if (settings.holdPods !== true) return disabled;
    this.#version ??= await this.#served(signal);
    if (this.#version === undefined) return notServed;
    if (!this.#isFollowing) {
      follow(resourceKind(this.#version, 'MutatingAdmissionPolicy'), view.policies);
      follow(resourceKind(this.#version, 'MutatingAdmissionPolicyBinding'), view.policyBindings);
    }
    this.#isFollowing = true;
    const isListed = (): boolean => view.policies.hasSynced && view.policyBindings.hasSynced;
    const listed = Promise.all([view.policies.synced(), view.policyBindings.synced()]);
    if (!isListed()) await Promise.race([listed, pause(clock, listingMs, signal)]);
    return isListed() ? undefined : unlisted;
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
    signal: AbortSignal,
  ): Promise<HoldDecision> {
    const { name = '' } = desired.metadata;
    const { metadata, spec } = target.config;
    const known = this.#webhooks.get(name) ?? {};
    this.#webhooks.set(name, known);
    known.quietSince = isHolding(live) ? undefined : (known.quietSince ?? this.#options.clock.monotonic());
    const writes: ObjectWrite[] = [];
    if (spec.webhook.failurePolicy !== 'Hold') return { isHolding: false, writes };
    let obstacle: HoldObstacle | undefined;
    try {
      const steps = this.#steps(target, desired, known, signal);
      let step = await steps.next();
      for (; step.done !== true; step = await steps.next()) writes.push(step.value);
      obstacle = step.value;
    } catch (error) {
      if (!(error instanceof ApiError) || ![403, 404, 422].includes(error.code)) throw error;
      // The API server may have stopped serving policies.
      if (error.code === 404) this.#version = undefined;
      obstacle = { reason: 'PolicyRefused', message: error.message, retryAfter: unavailableMs };
    }
    known.problem = undefined;
    if (obstacle === undefined) return { isHolding: true, writes };
    const { reason, message, retryAfter } = obstacle;
    const fallback = `until then spec.webhook.fallback (${spec.webhook.fallback}) applies to all pods`;
    known.problem = { injectorConfig: metadata.name, finding: yes(reason, `${message}; ${fallback}`) };
    return { isHolding: false, writes, retryAfter };
  }

  /**
   * Removes the policy of a webhook once no API server ignores failed calls of the webhook.
   * Resolves with the milliseconds to wait for this; undefined if nothing remains.
   */
  async withdraw(name: string, signal: AbortSignal): Promise<number | undefined> {
    const { clock, view } = this.#options;
    const { quietSince } = this.#webhooks.get(name) ?? {};
    const isGone = view.mutatingWebhooks.get(name) === undefined;
    if (isGone) this.#webhooks.delete(name);
    else this.#webhooks.set(name, { quietSince });
    const objects = this.#live(name);
    if (objects.length === 0) return undefined;
    const wait = isGone ? 0 : quietLeft(quietSince, clock.monotonic());
    if (wait > 0) return wait;
    await this.#remove(objects, signal);
    return undefined;
  }

  /**
   * Removes policies whose webhook is gone for good, for example after a crash in between.
   * @param owners the names of the webhook configurations that InjectorConfigs and tags ask for
   */
  async sweep(owners: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { view } = this.#options;
    for (const policy of view.policies.list().filter((each) => view.isOurs(each))) {
      const { name = '' } = policy.metadata;
      const isProof = [...this.#webhooks.values()].some(({ probe }) => probe === name);
      if (owners.has(name) || isProof || view.mutatingWebhooks.get(name) !== undefined) continue;
      await this.withdraw(name, signal);
    }
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
    const { proof } = this.#webhooks.get(name) ?? {};
    const pairs = ourWebhooksOf(live).filter((each) => each.name?.startsWith(heldPrefix)).length;
    const objects = this.#live(name);
    return objects.length === pairs + 1 && (proof === undefined || proof.identity === identityOf(objects));
  }

  /** Reads the names of the policies of all clients, also of other operator classes. */
  async allNames(signal: AbortSignal): Promise<string[]> {
    const resource = resourceKind(this.#version ?? policyVersions[0], 'MutatingAdmissionPolicy');
    const { items } = await this.#options.client.listAll(resource, { signal });
    return items.map(({ metadata }) => metadata.name ?? '');
  }

  /**
   * Yields each write, so that a refusal loses none of the earlier ones. Returns why the webhook
   * may not ignore failed calls yet; undefined if it may.
   */
  async *#steps(
    target: CheckedWebhook,
    configuration: WebhookConfiguration,
    known: KnownWebhook,
    signal: AbortSignal,
  ): AsyncGenerator<ObjectWrite, HoldObstacle | undefined> {
    const { clock, reports } = this.#options;
    const obstacle = (await this.follow(signal)) ?? oldReplicas(reports.notHolding());
    // After a restart, a live webhook stays as it is until the policies have been listed.
    if (known.quietSince === undefined && obstacle === unlisted) throw noAnswer('Unreachable', unlisted.message);
    if (obstacle !== undefined) return obstacle;
    const desired = holdObjects(configuration, target, target.context, this.#version ?? policyVersions[0]);
    for (let isWritten = false; ;) {
      const live = this.#live(configuration.metadata.name ?? '');
      const facts = { ...known, live, desired, isWritten };
      const step = decideHold(facts, clock.monotonic());
      if (step.action === 'Replace') {
        await this.#remove(live, signal);
        yield* this.#apply(desired, signal);
        isWritten = true;
      } else if (step.action === 'Prove') {
        const acts = await this.#acts(target, known, signal);
        // Without the proof, the next pass proves again before the webhook ignores failed calls.
        known.proof = acts ? provenNow(facts, clock.monotonic()) : undefined;
        if (!acts) return inactive;
      } else if (step.action === 'Rely') {
        known.proof = step.proof;
        return undefined;
      } else {
        try {
          if (step.action === 'Restore') yield* this.#apply(desired, signal);
        } catch (error) {
          // The webhook must use the fallback nevertheless.
          if (!(error instanceof ApiError)) throw error;
        }
        return { reason: 'HoldSwitching', message: step.message, retryAfter: step.retryAfter };
      }
    }
  }

  async #served(signal: AbortSignal): Promise<PolicyVersion | undefined> {
    for (const version of policyVersions) {
      const resource = resourceKind(version, 'MutatingAdmissionPolicy');
      const page = await this.#options.client.list(resource, { limit: 1, signal }).catch(ignoreNotFound);
      if (page !== undefined) return version;
    }
    return undefined;
  }

  /** Returns the live bindings of a webhook, then its policy: the order of removal. */
  #live(name: string): KubernetesObject[] {
    const { view } = this.#options;
    const policyNameOf = ({ spec }: KubernetesObject) => (spec as { policyName?: string } | undefined)?.policyName;
    const policy = view.policies.get(name);
    const bindings = view.policyBindings.list().filter((each) => policyNameOf(each) === name);
    return [...bindings, ...(policy === undefined ? [] : [policy])];
  }

  async *#apply(objects: readonly KubernetesObject[], signal: AbortSignal): AsyncGenerator<ObjectWrite, void> {
    for (const object of objects) yield await this.#options.owned.apply(object, signal);
  }

  async #remove(objects: readonly KubernetesObject[], signal: AbortSignal): Promise<void> {
    for (const object of objects) await this.#options.owned.remove(object, signal);
  }

  /** Shows with dry runs that the API server applies policies, including those written before. */
  async #acts(target: CheckedWebhook, known: KnownWebhook, signal: AbortSignal): Promise<boolean> {
    const { owned, client, clock, nonce } = this.#options;
    const expected = nonce();
    const probe = probePolicy(target, target.context, this.#version ?? policyVersions[0], expected);
    const written: KubernetesObject[] = [];
    known.probe = probe[0]?.metadata.name;
    try {
      for (const each of probe) written.push((await owned.apply(each, signal)).object);
      const request = probeConfigMap(probeSubject(target), nonce(), target.context.namespace);
      const began = clock.monotonic();
      while (clock.monotonic() - began < proving.timeoutMs) {
        const { data } = await client.create(request, { dryRun: true, signal });
        if ((data as Record<string, string> | undefined)?.[pathProbeKeys.answer] === expected) return true;
        await pause(clock, proving.intervalMs, signal);
        signal.throwIfAborted();
      }
      return false;
    } finally {
      known.probe = undefined;
      if (!signal.aborted) await this.#remove(written.reverse(), signal);
    }
  }
}

/** Why a webhook may not ignore failed calls, and the milliseconds until the next attempt. */
interface HoldObstacle {
  readonly reason: ConditionReason;
  readonly message: string;
  readonly retryAfter: number;
}

const disabled: HoldObstacle = {
  reason: 'HoldDisabled',
  message: "this installation has no permissions for Hold: set the chart's operator.holdPods (--hold-pods)",
  retryAfter: unavailableMs,
};
const notServed: HoldObstacle = {
  reason: 'HoldNotServed',
  message: 'the API server does not serve MutatingAdmissionPolicies, which are enabled from Kubernetes 1.36 on',
  retryAfter: unavailableMs,
};
const inactive: HoldObstacle = {
  reason: 'PolicyInactive',
  message: 'the API server does not apply the policy: check its admission plugin MutatingAdmissionPolicy',
  retryAfter: 1000,
};
const unlisted: HoldObstacle = {
  reason: 'HoldSwitching',
  message: 'the policies have not been listed yet',
  retryAfter: 200,
};

function oldReplicas(replicas: readonly string[]): HoldObstacle | undefined {
  if (replicas.length === 0) return undefined;
  const message = `${replicas.join(', ')} ${replicas.length === 1 ? 'does' : 'do'} not remove the gate of injected pods: upgrade all replicas`;
  return { reason: 'HoldSwitching', message, retryAfter: 1000 };
}

/** Reports whether a webhook configuration ignores failed calls, because a policy holds pods. */
function isHolding(configuration: KubernetesObject | undefined): boolean {
  const webhooks: { name?: string; failurePolicy?: string }[] = ourWebhooksOf(configuration);
  return webhooks.some(({ name, failurePolicy }) => name?.startsWith(heldPrefix) && failurePolicy === 'Ignore');
}
