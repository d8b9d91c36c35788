import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';

/** What happens to workloads and tags in restarts, for people who ask `kubectl describe`. */
export class RestartEvents {
  readonly #recorder: Pick<EventRecorder, 'record'>;

  constructor(recorder: Pick<EventRecorder, 'record'>) {
    this.#recorder = recorder;
  }

  /**
   * A workload was restarted.
   * @param had the configurations (`N.<hash8>`) that its stale pods have
   * @param gets the one that they get now
   */
  restarted(workload: KubernetesObject, tag: string, had: readonly string[], gets: string): void {
    const what = had.length === 0 ? 'what none of ours has injected' : had.join(', ');
    const note = `restarted by RevisionTag ${tag} (spec.strategy): its pods had ${what} and get ${gets}`;
    this.#recorder.record(workload, { type: 'Normal', reason: 'Restarted', action: 'Restart', note });
  }

  /** A workload could not be restarted. */
  failed(workload: KubernetesObject, tag: string, message: string): void {
    const note = `RevisionTag ${tag} (spec.strategy) wants it restarted, and that could not be written; it is tried again: ${message}`;
    this.#recorder.record(workload, { type: 'Warning', reason: 'RestartFailed', action: 'Restart', note });
  }

  /** No workload is restarted for a tag any more. */
  stopped(tag: KubernetesObject, message: string): void {
    this.#recorder.record(tag, { type: 'Warning', reason: 'RestartsStopped', action: 'Restart', note: message });
  }

  resumed(tag: KubernetesObject, message: string): void {
    const note = `restarts go on: ${message}`;
    this.#recorder.record(tag, { type: 'Normal', reason: 'RestartsResumed', action: 'Restart', note });
  }
}
