import {
  formatRestartAnnotation,
  restartedAnnotation,
  withRestart,
} from '../../api/revision-tag/restart-annotation.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Clock } from '../../kube/ports.ts';
import { workloadKey } from '../../routing/workload-key.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import { restartManager } from '../settings.ts';
import { failedWrite, RestartTroubles, type Trouble } from './restart-troubles.ts';
import { workloadOf, type WorkloadRecord } from './workload-record.ts';

export interface RestartWriterOptions {
  /** Writes only while we lead, asked before each write. */
  readonly client: Pick<LeaderClient, 'apply'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** What became of a write: the object as stored, or why it came to nothing. */
export type Written = { readonly stored: KubernetesObject } | { readonly trouble: Trouble };

/**
 * Restarts workloads: one annotation of the pod template, by server-side apply and only onto the very version that was read. So whoever else writes,
 * an answer that is lost or a second leader ends in a Conflict (409), never in a second restart.
 */
export class RestartWriter {
  readonly #options: RestartWriterOptions;
  /** What could not be written, and is left alone for a while. */
  readonly troubles: RestartTroubles;

  constructor(options: RestartWriterOptions) {
    this.#options = options;
    this.troubles = new RestartTroubles(() => options.clock.monotonic());
  }

  /**
   * Restarts a workload for a tag. Rejects where the failure says nothing of this workload ({@link failedWrite}), and when the signal aborts.
   * @param workload as it was looked at
   * @param target `N.<hash8>`: what its pods are to get
   */
  async restart(workload: WorkloadRecord, tag: string, target: string, signal: AbortSignal): Promise<Written> {
    const { client, clock } = this.#options;
    const { apiVersion, kind, metadata, restarts } = workload;
    const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
    const key = workloadKey(workloadOf(workload));
    const value = formatRestartAnnotation(withRestart(restarts, { tag, target, at: clock.now().getTime() }));
    const body = {
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion },
      spec: { template: { metadata: { annotations: { [restartedAnnotation]: value } } } },
    };
    const began = clock.monotonic();
    try {
      // By force: somebody may have applied what he read from the cluster, our annotation with it.
      const how = { fieldManager: restartManager, force: true, signal };
      const stored = await client.apply<KubernetesObject>(body, how);
      this.troubles.resolve(key);
      return { stored };
    } catch (error) {
      const failed = failedWrite(error);
      if (failed === undefined) throw error;
      const message = error instanceof Error ? error.message : String(error);
      const trouble = { ...failed, message, took: clock.monotonic() - began, record: workload };
      this.troubles.add(key, trouble);
      return { trouble };
    }
  }
}
