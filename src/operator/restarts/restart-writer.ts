import {
  formatRestartAnnotation,
  restartedAnnotation,
  withRestart,
} from '../../api/revision-tag/restart-annotation.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Clock } from '../../kube/ports.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import { restartManager } from '../settings.ts';
import { failedWrite, type Trouble } from './restart-troubles.ts';
import type { WorkloadRecord } from './workload-record.ts';

export interface RestartWriterOptions {
  /** Writes only while we lead, asked before each write. */
  readonly client: Pick<LeaderClient, 'apply'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * Restarts a workload for a tag: one annotation of the pod template, by server-side apply and only onto the very version that was read. So whoever
 * else writes, an answer that is lost or a second leader ends in a Conflict (409), never in a second restart.
 * Rejects where the failure says nothing of this workload ({@link failedWrite}), and when the signal aborts.
 * @param workload as it was looked at
 * @param target `N.<hash8>`: what its pods are to get
 * @returns the object as stored, or why it came to nothing
 */
export async function writeRestart(
  { client, clock }: RestartWriterOptions,
  workload: WorkloadRecord,
  { tag, target, signal }: { readonly tag: string; readonly target: string; readonly signal: AbortSignal },
): Promise<{ readonly stored: KubernetesObject } | { readonly trouble: Trouble }> {
  const { apiVersion, kind, metadata, restarts } = workload;
  const value = formatRestartAnnotation(withRestart(restarts, { tag, target, at: clock.now().getTime() }));
  const spec = { template: { metadata: { annotations: { [restartedAnnotation]: value } } } };
  const began = clock.monotonic();
  try {
    // By force: somebody may have applied what he read from the cluster, our annotation with it.
    const how = { fieldManager: restartManager, force: true, signal };
    return { stored: await client.apply<KubernetesObject>({ apiVersion, kind, metadata, spec }, how) };
  } catch (error) {
    const failed = failedWrite(error);
    if (failed === undefined) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { trouble: { ...failed, message, took: clock.monotonic() - began, record: workload } };
  }
}
