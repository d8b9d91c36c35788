import { formatRestartAnnotation, restartedAnnotation, withRestart } from '../../api/restart-annotation.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { Clock } from '../../kube/ports.ts';
import { workloadKey, type RolloutWorkload } from '../../rollout/workload-key.ts';
import type { LeaderClient } from '../leading-client.ts';
import { restartManager } from '../settings.ts';
import type { WorkloadRecord } from './workload-record.ts';

export interface RestartWriterOptions {
  /** Writes only while we lead, asked before each write. */
  readonly client: Pick<LeaderClient, 'apply'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Other policies answer with pages of text; of that so much goes into a status. */
const longestMessage = 512;
/** What the API server has refused is not tried again for so long, and for so much longer with each that is refused: at most every other try is one of those. Milliseconds. */
const refusedMs = { least: 60_000, each: 2000 } as const;

/**
 * Restarts workloads: one annotation of the pod template, by server-side apply and only onto the very version that was read. So whoever else writes,
 * an answer that is lost or a second leader ends in a Conflict (409), never in a second restart.
 */
export class RestartWriter {
  readonly #options: RestartWriterOptions;
  readonly #refused = new Map<string, { readonly message: string; readonly at: number }>();

  constructor(options: RestartWriterOptions) {
    this.#options = options;
  }

  /**
   * Restarts a workload for a tag. Resolves with the object as stored; undefined when the API server refuses it ({@link refusalOf}), as other policies
   * of the cluster may. Rejects with {@link ApiError} for everything that may be otherwise in a moment, Conflict too.
   * @param target `N.<hash8>`: what its pods are to get
   */
  async restart(
    workload: WorkloadRecord,
    tag: string,
    target: string,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    const { client, clock } = this.#options;
    const { apiVersion, kind, metadata, restarts } = workload;
    const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
    const value = formatRestartAnnotation(withRestart(restarts, { tag, target, at: clock.now().getTime() }));
    const body = {
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion },
      spec: { template: { metadata: { annotations: { [restartedAnnotation]: value } } } },
    };
    try {
      // By force: somebody may have applied what he read from the cluster, our annotation with it.
      return await client.apply<KubernetesObject>(body, { fieldManager: restartManager, force: true, signal });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#refuse(workloadKey({ namespace, kind, name }), error.message);
      return undefined;
    }
  }

  /** Where very many are refused, the others would never be tried otherwise: a look ends at a refusal. */
  get #period(): number {
    return Math.max(refusedMs.least, refusedMs.each * this.#refused.size);
  }

  #refuse(workload: string, message: string): void {
    const at = this.#options.clock.monotonic();
    for (const [key, refusal] of this.#refused) if (at - refusal.at >= this.#period) this.#refused.delete(key);
    // Half a character at the end becomes a whole one.
    this.#refused.set(workload, { message: Buffer.from(message.slice(0, longestMessage)).toString(), at });
  }

  /** What the API server said when it refused to restart a workload; undefined when it may be tried. */
  refusalOf(workload: RolloutWorkload): string | undefined {
    const refusal = this.#refused.get(workloadKey(workload));
    const isOver = refusal === undefined || this.#options.clock.monotonic() - refusal.at >= this.#period;
    return isOver ? undefined : refusal.message;
  }
}

/**
 * Said of this object, and not of the moment, before anything was written: policies, webhooks and validation answer 400, 403 or 422, and a webhook of
 * somebody that cannot be called is an internal error.
 */
function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return (
    [400, 403, 422].includes(error.code) || (error.code === 500 && error.message.includes('failed calling webhook'))
  );
}
