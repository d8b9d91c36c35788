import { usageStatusFields } from '../../api/injector-config/usage-status.ts';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { without } from '../../inject/pod/without.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { writeStatus } from '../../kube/status-writer.ts';
import { resyncMs, statusManager } from '../settings.ts';
import type { PassContext } from './pass-context.ts';
import type { Refusals } from './refusals.ts';

export interface StatusParts extends Pick<PassContext, 'metrics' | 'view'> {
  readonly client: Pick<ApiClient, 'apply'>;
  readonly refusals: Refusals;
}

/** How long to wait before a refused status is written again, in milliseconds. */
export const refusedStatusMs = 30_000;

/** The fields that list pods and workloads. Authors of pods choose what they contain. */
const lists = [...Object.keys(usageStatusFields), 'restarts'];

/**
 * Writes a status. If the API server refuses its content, reports this in an Event, the log and a
 * metric, and writes it without the lists, because other work depends on conditions and rollouts.
 * Resolves with the object as it is stored now, or undefined if this is refused, too.
 * @throws ApiError for any other failure
 */
export async function storeStatus(
  { client, refusals, metrics, view }: StatusParts,
  object: KubernetesObject,
  status: object,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  const write = (desired: object) =>
    writeStatus(client, object, desired, { fieldManager: statusManager, signal }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || ![400, 413, 422].includes(error.code)) throw error;
      metrics.applied?.(object.kind, 'StatusRefused');
      return error;
    });
  let written = await write(status);
  if (written instanceof ApiError) {
    const message = `the API server refuses the status, so it lacks the lists of pods and workloads: ${written.message}`;
    refusals.report(object, 'Status', { reason: 'StatusRefused', message });
    written = await write(without({ ...status }, ...lists));
    if (written instanceof ApiError) return undefined;
  } else refusals.report(object, 'Status');
  if (written === undefined) return object;
  (object.kind === 'RevisionTag' ? view.tags : view.configs).upsert(written);
  return written;
}

/**
 * Writes the status at the end of a pass, and updates the metrics of conditions. Resolves with the
 * milliseconds until the next pass.
 */
export async function finishPass(
  parts: StatusParts,
  key: string,
  object: KubernetesObject,
  status: { readonly conditions?: readonly Condition[] | undefined },
  signal: AbortSignal,
): Promise<number> {
  const conditions = (status.conditions ?? []).map((each): [string, boolean] => [each.type, each.status === 'True']);
  parts.metrics.conditions?.(key, new Map(conditions));
  const stored = await storeStatus(parts, object, status, signal);
  return stored === undefined ? refusedStatusMs : resyncMs;
}
