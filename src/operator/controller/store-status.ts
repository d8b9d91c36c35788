import { usageStatusFields } from '../../api/injector-config/usage-status.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { without } from '../../inject/pod/without.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { writeStatus } from '../../kube/status-writer.ts';
import { statusManager } from '../settings.ts';
import type { PassContext } from './pass-context.ts';
import type { Refusals } from './refusals.ts';

export interface StatusParts extends Pick<PassContext, 'metrics'> {
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
 * Resolves with what is stored now, or undefined if nothing differs, or the error if this is
 * refused, too. @throws ApiError for any other failure
 */
export async function storeStatus(
  { client, refusals, metrics }: StatusParts,
  object: KubernetesObject,
  status: object,
  signal: AbortSignal,
): Promise<KubernetesObject | ApiError | undefined> {
  const write = (desired: object) =>
    writeStatus(client, object, desired, { fieldManager: statusManager, signal }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || ![400, 413, 422].includes(error.code)) throw error;
      metrics.applied?.(object.kind, 'StatusRefused');
      return error;
    });
  const written = await write(status);
  if (!(written instanceof ApiError)) {
    refusals.report(object, 'Status');
    return written;
  }
  const message = `the API server refuses the status, so it lacks the lists of pods and workloads: ${written.message}`;
  refusals.report(object, 'Status', { reason: 'StatusRefused', message });
  return write(without({ ...status }, ...lists));
}
