import assert from 'node:assert/strict';
import { restartStatusSchema, type RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import type { OtherRestart, RestartCandidate, RestartSituation } from '../restart-candidate.ts';
import { atOnce } from '../../steps/steps.ts';
import { planRestarts, type RestartPlan } from '../restarts.ts';
import { workloadKey } from '../../routing/workload-key.ts';
import { at, boundsOf, start } from './situation.ts';

/** Bounds that allow one workload at a time. */
export const one = boundsOf({});
/** Bounds that allow ten workloads at a time. */
export const wide = boundsOf({ maxUnavailableWorkloads: 10, perNamespace: 10 });
export const target = 'new.00000002';
export const older = 'old.00000001';

/** Returns a complete Deployment with two stale pods. */
export function candidate(name: string, fields: Partial<RestartCandidate> = {}): RestartCandidate {
  const workload = { namespace: 'shop', kind: 'Deployment', name };
  return {
    ...workload,
    stale: 2,
    target,
    paused: false,
    completeSince: start,
    budgets: [],
    key: workloadKey({ ...workload, ...fields }),
    ...fields,
  };
}

/** Returns an incomplete Deployment with two stale pods. */
export function incomplete(name: string, fields: Partial<RestartCandidate> = {}): RestartCandidate {
  const rest = { ...candidate(name, fields) };
  delete (rest as { completeSince?: number }).completeSince;
  return rest;
}

/** Returns an incomplete workload that was restarted for tag `logs` 990 s after the start. */
export function restartedForLogs(name: string): OtherRestart {
  const workload = { namespace: 'shop', kind: 'Deployment', name };
  return { key: workloadKey(workload), ...workload, tag: 'logs', at: at(990).getTime(), budgets: [] };
}

/** Plans at some seconds after the start, and validates the status with its schema. */
export function plan(
  own: readonly RestartCandidate[],
  bounds = one,
  seconds = 1000,
  others: readonly OtherRestart[] = [],
  { uncertain = [], opensAt }: Pick<RestartSituation, 'uncertain' | 'opensAt'> = {},
): RestartPlan {
  const made = atOnce(planRestarts({ own, others, uncertain, opensAt }, bounds, at(seconds).getTime()));
  assert.deepEqual(restartStatusSchema.parse(made.status), made.status);
  return made;
}

export const names = (candidates: readonly { name: string }[]): string[] => candidates.map(({ name }) => name);
/** Returns each entry as `name reason`. */
export const reasons = (list: readonly RestartStatus['waiting'][number][]): string[] =>
  list.map(({ name, reason }) => `${name} ${reason}`);
