import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { gateOf, gatePrefix, labelNames, managedBy } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { pendingPod, pendingSelector } from '../../holding/pending-pod.ts';
import { ignoreNotFound, isConflict, isNotFound, messageOf } from '../../kube/api-error.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { policyVersions } from '../../manifests/hold-objects.ts';
import { pods } from '../../operator/cluster-view.ts';
import { plural } from '../report/write-report.ts';
import { listWhereKnown } from '../usage/installation.ts';

/** A change of one object, or of several pods. */
export interface SwitchChange {
  readonly line: string;
  readonly failed?: true;
}

/** Which pods to release: those of all webhook configurations, or of some. */
export interface ReleasedWebhooks {
  readonly isAll: boolean;
  /** Reports whether a policy belongs to a selected injector. Policies have labels of webhooks. */
  readonly isSelected: (policy: KubernetesObject) => boolean;
  /** The names of selected webhook configurations. */
  readonly names: readonly string[];
  /** Whether to keep the policies, which hold new pods. */
  readonly keepsPolicies?: boolean;
  /** Whether policies were deleted just now, so that API servers may still add gates. */
  readonly wereDeleted?: boolean;
}

/**
 * How long API servers may still add gates after a policy is deleted, how often to look, and how
 * long to try, in milliseconds. An API server compiles policies once a second.
 */
const times = { quietMs: 2500, intervalMs: 500, mostMs: 30_000 };

/**
 * Deletes the policies that hold pods, and removes their gates from all pods, without the operator.
 * The pods then start without their sidecar. Delete the webhooks first. Returns nothing, and waits
 * for nothing, if no policy exists and no pod is held.
 */
export async function releaseHeldPods(
  client: ApiClient,
  { isAll, isSelected, names, keepsPolicies = false, wereDeleted = false }: ReleasedWebhooks,
  isDryRun: boolean,
): Promise<SwitchChange[]> {
  const all = await listHoldPolicies(client);
  const policies = all.filter((each) => each.kind === 'MutatingAdmissionPolicy' && (isAll || isSelected(each)));
  const selected = new Set([...names, ...policies.map(({ metadata }) => metadata.name ?? '')]);
  const bindings = all.filter(({ spec }) =>
    selected.has((spec as { policyName?: string } | undefined)?.policyName ?? ''),
  );
  const gates = new Set([...selected].map(gateOf));
  const isReleased = (gate: string): boolean => gate.startsWith(gatePrefix) && (isAll || gates.has(gate));
  const deleted = keepsPolicies ? [] : [...bindings, ...policies];
  const held = (await heldPods(client, isReleased)).length;
  if (deleted.length + held === 0 && !wereDeleted) return [];
  const changes: SwitchChange[] = [];
  for (const object of deleted) changes.push(await withdraw(client, object, isDryRun));
  if (isDryRun) return [...changes, { line: `${plural(held, 'held pod')}: would be released` }];
  return [...changes, ...(await releaseAll(client, isReleased))];
}

/** Deletes an object, or says that it would be deleted. */
export async function withdraw(client: ApiClient, object: KubernetesObject, isDryRun: boolean): Promise<SwitchChange> {
  const what = `${object.kind} ${object.metadata.name ?? ''}`;
  if (isDryRun) return { line: `${what}: would be deleted` };
  return attemptChange(what, 'deleted', () => client.delete(object).catch(ignoreNotFound));
}

/** Makes a change, and describes its result. */
export async function attemptChange(what: string, done: string, act: () => Promise<unknown>): Promise<SwitchChange> {
  try {
    await act();
    return { line: `${what}: ${done}` };
  } catch (error) {
    return { line: `${what}: not ${done}: ${messageOf(error)}`, failed: true };
  }
}

/** Removes the gates from pods, until no more pods appear. */
async function releaseAll(client: ApiClient, isReleased: (gate: string) => boolean): Promise<SwitchChange[]> {
  const began = Date.now();
  let released = 0;
  let failure = '';
  for (;;) {
    const found = await heldPods(client, isReleased);
    for (const pod of found) {
      try {
        await release(client, pod, isReleased);
        released += 1;
      } catch (error) {
        // A changed pod is read again.
        if (!isNotFound(error) && !isConflict(error)) failure = messageOf(error);
      }
    }
    const elapsed = Date.now() - began;
    if ((found.length === 0 && elapsed >= times.quietMs) || failure !== '' || elapsed > times.mostMs) {
      const changes: SwitchChange[] = [];
      if (released > 0) changes.push({ line: `${plural(released, 'held pod')}: released, without a sidecar` });
      const left = `${plural(found.length, 'pod')}: still held: ${failure}`;
      return found.length === 0 ? changes : [...changes, { line: left, failed: true }];
    }
    await sleep(times.intervalMs);
  }
}

/** Removes the gates of a pod. Deletes a pod that its Job has already replaced. */
async function release(client: ApiClient, pod: KubernetesObject, isReleased: (gate: string) => boolean): Promise<void> {
  const { held, owner } = pendingPod(pod);
  const { uid, resourceVersion } = pod.metadata;
  if (held?.isSeparated === true && owner === undefined) return client.delete(pod, { uid, resourceVersion });
  const schedulingGates = (held?.gates ?? []).filter((each) => !isReleased(each)).map((name) => ({ name }));
  await client.patch(pod, 'merge', { metadata: { uid, resourceVersion }, spec: { schedulingGates } });
}

async function heldPods(client: ApiClient, isReleased: (gate: string) => boolean): Promise<KubernetesObject[]> {
  const { items } = await client.listAll(pods, { fieldSelector: pendingSelector });
  return items.filter((pod) => pendingPod(pod).held?.gates.some(isReleased) === true);
}

/** Lists the bindings and policies of all operators; none if the API server serves no policies. */
export async function listHoldPolicies(client: Pick<ApiClient, 'listAll'>): Promise<KubernetesObject[]> {
  for (const version of policyVersions) {
    const kinds = ['MutatingAdmissionPolicyBinding', 'MutatingAdmissionPolicy'];
    const lists = kinds.map((kind) => listWhereKnown(client, resourceKind(version, kind), ours));
    const found = (await Promise.all(lists)).flat();
    if (found.length > 0) return found;
  }
  return [];
}

const ours = `${labelNames.managedBy}=${managedBy}`;
