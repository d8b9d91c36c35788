import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RotationChange } from '../../certs/rotation/rotation-state.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { EventReason } from '../reasons.ts';
import type { RolloutEvent } from '../../rollout/transitions.ts';
import type { ObjectWrite } from './owned-objects.ts';

/** Records the Events of InjectorConfigs and RevisionTags, for `kubectl describe`. */
export class RevisionEvents {
  readonly #recorder: Pick<EventRecorder<EventReason>, 'record'>;

  constructor(recorder: Pick<EventRecorder<EventReason>, 'record'>) {
    this.#recorder = recorder;
  }

  published(object: KubernetesObject, hash: string, before: string | undefined): void {
    const note = `configuration ${hash} is published${before === undefined ? '' : ` in place of ${before}`}`;
    this.#recorder.record(object, { type: 'Normal', reason: 'Published', action: 'Publish', note });
  }

  /** Records that a tag points to its first revision or to another revision. */
  tagMoved(tag: KubernetesObject, revision: string, hash: string, before: string | undefined): void {
    const note = `the tag points to revision ${revision} (configuration ${hash})${before === undefined ? '' : ` in place of ${before}`}`;
    this.#recorder.record(tag, { type: 'Normal', reason: 'Published', action: 'Publish', note });
  }

  rollout(tag: KubernetesObject, happened: readonly RolloutEvent[]): void {
    for (const { type, reason, message } of happened) {
      this.#recorder.record(tag, { type, reason, action: 'Rollout', note: message });
    }
  }

  paused(object: KubernetesObject, note: string): void {
    this.#recorder.record(object, { type: 'Warning', reason: 'Paused', action: 'Pause', note });
  }

  resumed(object: KubernetesObject): void {
    const note =
      'spec.paused is no longer set: the webhook is published again once the API server reaches the replicas';
    this.#recorder.record(object, { type: 'Normal', reason: 'Resumed', action: 'Resume', note });
  }

  refused(object: KubernetesObject, reason: EventReason, message: string): void {
    this.#recorder.record(object, { type: 'Warning', reason, action: 'Check', note: message });
  }

  rotated(object: KubernetesObject, changes: readonly RotationChange[]): void {
    for (const { kind, message } of changes) {
      const type = kind === 'Repaired' ? 'Warning' : 'Normal';
      this.#recorder.record(object, { type, reason: kind, action: 'Rotate', note: message });
    }
  }

  /** Records those writes of a pass that were repairs. */
  repaired(object: KubernetesObject, writes: readonly ObjectWrite[]): void {
    for (const { object: repaired, difference, foreign } of writes.filter(({ isRepair }) => isRepair)) {
      const what = `${repaired.kind} ${repaired.metadata.name ?? ''}`;
      const managers = [...new Set(foreign.map(({ manager }) => manager))].sort().join(', ');
      const by = managers === '' ? '' : ` by ${managers}`;
      const advice = repaired.kind === 'ConfigMap' ? '; edit the InjectorConfig instead' : '';
      const note =
        difference === undefined
          ? `${what} was missing; recreated`
          : `${what} was changed${by} at ${difference}; restored${advice}`;
      this.#recorder.record(object, { type: 'Warning', reason: 'Repaired', action: 'Repair', note });
    }
  }
}
