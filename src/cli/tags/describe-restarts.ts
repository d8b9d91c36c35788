import type { RevisionTag } from '../../api/revision-tag.ts';
import { restartBounds } from '../../api/rollout-strategy.ts';
import { plural } from '../report/pod-counts.ts';

/**
 * What the operator will restart after a move, by the spec, and by the status whether it may; undefined where the spec asks for nothing that can
 * come now.
 * @param isRollout the tag does not move at once
 */
export function describeRestarts(
  { spec: { strategy }, status }: Pick<RevisionTag, 'spec' | 'status'>,
  isRollout: boolean,
): string | undefined {
  const isAfterRollback = strategy?.restart === undefined;
  if (strategy === undefined || (isAfterRollback && !(isRollout && strategy.rollback?.restart === 'Canary')))
    return undefined;
  const what = isAfterRollback
    ? 'if it is rolled back, workloads that have got the canary are restarted'
    : isRollout
      ? 'workloads are restarted as the share comes to them'
      : 'workloads with pods that run already are restarted';
  const { maxUnavailableWorkloads, perNamespace } = restartBounds(strategy);
  const field = isAfterRollback ? 'spec.strategy.rollback' : 'spec.strategy.restart';
  const bounds = `${plural(maxUnavailableWorkloads, 'workload')} at a time, ${perNamespace} of one namespace (${field})`;
  const restarts = status?.restarts;
  const obstacle = restarts?.phase === 'NotAllowed' ? `; for now they are not: ${restarts.message}` : '';
  return `${what}, ${bounds}${obstacle}`;
}
