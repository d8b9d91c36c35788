import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import type { RevisionTag, RestartStatus, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { formatRoute } from '../../routing/route.ts';
import { ready } from './revision-cluster.ts';

const ref = (revision: string) => ({ revision, injectorConfig: revision, hash: '0'.repeat(8) });
const pods = { ready: 0, failing: 0, total: 0 };

/** Returns `status.rollout` of a tag from 1-24 to 1-25, by default without a rollout. */
export function rolloutState(more: Partial<RolloutState> = {}): RolloutState {
  return {
    phase: 'Idle',
    reason: 'Stable',
    message: 'pods get revision 1-24',
    stable: ref('1-24'),
    weight: 0,
    threshold: '0'.repeat(16),
    shadow: false,
    knownWorkloads: 212,
    canaryWorkloads: 0,
    pods: { stable: pods, canary: pods },
    injectionErrors: 0,
    ...more,
  };
}

/** A rollout paused at step 2 of 4. */
export const paused = rolloutState({
  phase: 'Paused',
  reason: 'UntilResumed',
  message: 'step 2 (25 percent) is paused until a user resumes it',
  canary: ref('1-25'),
  step: 1,
  weight: 25,
  threshold: `4${'0'.repeat(15)}`,
  startedAt: '2026-01-01T00:00:00Z',
  stepStartedAt: '2026-01-01T00:01:00Z',
  pausedAt: '2026-01-01T00:02:00Z',
  canaryWorkloads: 53,
  pods: { stable: { ready: 150, failing: 1, total: 159 }, canary: { ready: 50, failing: 0, total: 53 } },
});

/** A rollout that the operator rolled back from 1-25. */
export const rolledBack = rolloutState({
  phase: 'RolledBack',
  reason: 'PodsFailing',
  message: 'revision 1-25 was rolled back to 1-24 at step 2 (25 percent): 9 of 53 pods of the canary are failing',
  rolledBackFrom: ref('1-25'),
  generation: 1,
});

/** A rollout promoted to 1-25. */
export const promoted = rolloutState({
  phase: 'Promoted',
  reason: 'Promoted',
  message: 'revision 1-25 is stable now, in place of 1-24: all steps are done',
  stable: ref('1-25'),
  weight: 100,
});

export const strategy = {
  canary: {
    steps: [{ weight: 0, shadow: true }, { weight: 25, pause: 'UntilResumed' }, { weight: 50, pause: '10m' }, { weight: 100 }],
  },
};

/** Returns `status.restarts` of tag prod at `revision`, by default with nothing to restart. */
export function restartStatus(revision: string, more: Partial<RestartStatus> = {}): RestartStatus {
  return {
    phase: 'Idle',
    message: 'nothing to restart',
    path: formatRoute({ tag: 'prod', stable: { injectorConfig: revision, hash: '00000000' } }),
    stale: 0,
    inProgress: 0,
    waiting: [],
    untouched: [],
    ...more,
  };
}

const onDelete = 'its pods are replaced only when they are deleted (OnDelete): delete them';
/** Forty stale workloads; one is restarting. */
export const restarting = restartStatus('1-25', {
  phase: 'Restarting',
  message: '1 restarting, 38 to come',
  stale: 40,
  inProgress: 1,
  waiting: ['a', 'b', 'c', 'd'].map((name) => {
    const message = '1 workload is restarting, so the maximum is reached (maxUnavailableWorkloads)';
    return { namespace: 'shop', kind: 'Deployment', name, reason: 'Bound', message };
  }),
  untouched: [{ namespace: 'shop', kind: 'DaemonSet', name: 'agent', reason: 'OnDelete', message: onDelete }],
});

/** Returns tag prod with revision 1-25, by default with steps, as the operator writes it. */
export function rolloutTag(
  rollout: RolloutState | undefined,
  more: { metadata?: object; spec?: object; status?: object; isAtOnce?: true } = {},
): RevisionTag {
  const isAtTarget = rollout?.stable.revision === '1-25';
  const finding = isAtTarget ? ready('True', 'Published') : ready('False', rollout?.phase ?? 'NotObserved', rollout?.message);
  return parseRevisionTag({
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'RevisionTag',
    metadata: { name: 'prod', generation: 1, ...more.metadata },
    spec: { revision: '1-25', ...(more.isAtOnce ? {} : { strategy }), ...more.spec },
    status: {
      observedGeneration: 1,
      stableRevision: rollout?.stable.revision ?? '1-24',
      injectorConfig: rollout?.stable.injectorConfig ?? '1-24',
      hash: '00000000',
      conditions: [finding],
      ...(rollout === undefined ? {} : { rollout }),
      ...more.status,
    },
  });
}
