import { istioKeys } from '../../../api/injector-config/webhook-keys.ts';
import { formatRestartAnnotation, type WorkloadRestart } from '../../../api/revision-tag/restart-annotation.ts';
import type { RestartCandidate, RestartSituation } from '../../../rollout/restart-candidate.ts';
import { atOnce } from '../../../steps/steps.ts';
import type { SelectingWebhook } from '../../../selection/selecting-webhook.ts';
import type { PodJudgement } from '../../usage/judge-pod.ts';
import { carriedBy } from '../../usage/pod-traits.ts';
import { PodGroup, type PodRecord } from '../../usage/pod-group.ts';
import { Completions } from '../completions.ts';
import { restartCandidates, type RestartInputs, type RestartSources } from '../restart-candidates.ts';
import { recordOfWorkload, type WorkloadRecord } from '../workload-record.ts';
import { workload, type WorkloadFields } from './workloads.ts';

export const second = 1000;
export const hour = 3600 * second;
export const now = Date.UTC(2026, 0, 2);
export const target = 'new.00000002';
export const older = 'old.00000001';
export const rolledBackFrom = { revision: '1-25', injectorConfig: 'bad', hash: '00000003' };

export function selectingWebhook(fields: Partial<SelectingWebhook> = {}): SelectingWebhook {
  return {
    id: 'sidecar-injector-tag-prod',
    injectorConfig: 'new',
    tag: 'prod',
    keys: istioKeys,
    hash: '00000002',
    since: 0,
    isConditional: false,
    selectors: [],
    ...fields,
  };
}

interface PodFields {
  readonly kind?: string;
  readonly state?: string;
  readonly carried?: string;
  readonly selectedBy?: SelectingWebhook | 'none';
  readonly records?: readonly Partial<PodRecord>[];
}

/** Returns the pods of one workload, by default two stale pods. */
export function pods(
  name: string,
  { kind = 'Deployment', state = 'stale', carried = older, selectedBy = selectingWebhook(), records = [{}, {}] }: PodFields = {},
): PodGroup {
  const where = { namespace: 'shop', workload: { kind, name } };
  const traits = { ...where, hostNetwork: false, labels: {}, annotations: {}, injectedBy: carried };
  const group = new PodGroup(traits);
  group.judgements = [
    {
      state: state as PodJudgement['state'],
      reason: 'x',
      injectorConfig: 'x',
      carried: carriedBy(traits)[0],
      selectedBy: selectedBy === 'none' ? undefined : selectedBy,
      isUser: true,
    },
  ];
  for (const [index, fields] of records.entries()) {
    const metadata = { name: `${name}-${index}` };
    group.pods.set(metadata.name, { apiVersion: 'v1', kind: 'Pod', metadata, ...fields });
  }
  return group;
}

export function record(
  name: string,
  restarts: readonly WorkloadRestart[] = [],
  fields: WorkloadFields = {},
  kind = 'Deployment',
) {
  const annotations = { 'sidecar-injector.io/restarted': formatRestartAnnotation(restarts) };
  return recordOfWorkload(workload(kind, name, { template: { annotations, labels: { app: name } }, ...fields }));
}

export interface SituationFields extends Partial<Omit<RestartSources, 'workloads'>> {
  readonly workloads?: readonly WorkloadRecord[];
}

/** Returns the inputs of a plan; the workloads were first observed a minute ago. */
export function inspect({ workloads = [record('web')], ...sources }: SituationFields = {}): RestartInputs {
  const completions = new Completions();
  for (const each of workloads) completions.note(each, now - 60 * second);
  const get = (kind: string, namespace: string, name: string) =>
    workloads.find(
      ({ kind: its, metadata }) => its === kind && metadata.namespace === namespace && metadata.name === name,
    );
  const steps = restartCandidates({
    tag: 'prod',
    groups: [pods('web')],
    workloads: { get },
    budgets: [],
    completions,
    isRollbackOnly: false,
    bounds: { missing: false, readyTimeout: '10m' },
    now,
    ...sources,
  });
  return atOnce(steps);
}

export function situation(fields: SituationFields = {}): RestartSituation {
  const { own, others } = inspect(fields);
  return { own, others };
}

export const own = (fields: SituationFields): readonly RestartCandidate[] => situation(fields).own;
/** Drops undefined fields. */
export const withoutUndefined = (value: object): unknown => JSON.parse(JSON.stringify(value));
export const restartedAt = (at: number, of = target, tag = 'prod'): WorkloadRestart => ({ tag, target: of, at });
