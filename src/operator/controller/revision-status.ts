import { mergeConditions } from '../../api/kubernetes/conditions.ts';
import {
  revisionOf,
  type InjectorConfig,
  type InjectorConfigStatus,
} from '../../api/injector-config/injector-config.ts';
import type { Condition } from '../../api/kubernetes/kubernetes.ts';
import { usageOf, type UsageStatus } from '../../api/injector-config/usage-status.ts';
import type { Rotation } from '../../certs/rotation/rotation.ts';
import type { ConditionReason } from '../reasons.ts';
import type { RotateAnswer } from '../certificates/rotate-requests.ts';

/** The value that a pass found for one condition. */
export interface Finding {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: ConditionReason;
  /** A sentence for users. Passes that find the same state must return the same sentence. */
  readonly message: string;
}

export function yes(reason: ConditionReason, message: string): Finding {
  return { status: 'True', reason, message };
}

export function no(reason: ConditionReason, message: string): Finding {
  return { status: 'False', reason, message };
}

const required = ['TemplatesValid', 'CertificateReady', 'WebhookReady'] as const;
const exceptional = [
  'TemplatesDoubtful',
  'PodsNotValidated',
  'NativeSidecarsAvailable',
  'InjectionFailing',
  'Overlap',
  'ForeignOverlap',
  'Conflict',
  'Narrowed',
  'HoldUnavailable',
  'Holding',
  'Paused',
  'RemovalBlocked',
] as const;

/** Findings by condition. A condition without a finding stays unchanged. */
export type FindingsOf<Type extends string> = { readonly [type in Type]?: Finding | undefined };

/** The findings of a pass over an InjectorConfig. Absent fields leave the status unchanged. */
export interface RevisionFindings extends FindingsOf<(typeof required | typeof exceptional)[number]> {
  readonly publishedHash?: string | undefined;
  /** The number of live replicas that serve the published configuration. */
  readonly servedBy?: number;
  /** The hash of a configuration that is too costly to load. */
  readonly refusedHash?: string | undefined;
  readonly rotation?: Rotation | undefined;
  /** The answer to the latest rotate request. */
  readonly rotateRequest?: RotateAnswer | undefined;
  readonly usage?: UsageStatus | undefined;
}

/**
 * Returns the conditions for findings. Omits an exceptional condition until it is first True.
 * @param readiness computes condition Ready from the other conditions
 */
export function observedConditions<Type extends string>(
  [always, exceptions]: readonly [readonly Type[], readonly Type[]],
  findings: FindingsOf<Type>,
  before: readonly Condition[],
  readiness: (conditions: readonly Condition[]) => Finding,
  observedGeneration: number,
  now: Date,
): Condition[] {
  const observed = [...always, ...exceptions].flatMap((type) => {
    const finding = findings[type];
    const isShown = always.includes(type) || finding?.status === 'True' || before.some((each) => each.type === type);
    return finding === undefined || !isShown ? [] : [{ type, observedGeneration, ...finding }];
  });
  const merged = mergeConditions(before, observed, now);
  return mergeConditions(merged, [{ type: 'Ready', observedGeneration, ...readiness(merged) }], now);
}

/** Returns the status for the findings; deeply equal to the previous status if nothing changed. */
export function revisionStatus(config: InjectorConfig, findings: RevisionFindings, now: Date): InjectorConfigStatus {
  const before = config.status;
  const observedGeneration = config.metadata.generation ?? 0;
  const types = [required, exceptional] as const;
  const known = before?.conditions ?? [];
  const conditions = observedConditions(types, findings, known, readiness, observedGeneration, now);
  const certificate = certificateStatus(findings, before?.certificate);
  const servedBy = findings.servedBy ?? before?.config?.servedBy;
  const hash = 'publishedHash' in findings ? findings.publishedHash : before?.config?.hash;
  const refused = 'refusedHash' in findings ? findings.refusedHash : before?.config?.refused;
  const configuration = {
    ...(hash === undefined ? {} : { hash, ...(servedBy === undefined ? {} : { servedBy }) }),
    ...(refused === undefined ? {} : { refused }),
  };
  return {
    observedGeneration,
    revision: revisionOf(config),
    conditions,
    ...(Object.keys(configuration).length === 0 ? {} : { config: configuration }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(findings.usage ?? usageOf(before)),
  };
}

/**
 * Returns the first condition that prevents readiness: a condition in `against` that is True, or a
 * required condition that is not True. @param where a suffix for a required condition's message
 */
export function obstacleAmong(
  conditions: readonly Condition[],
  against: readonly ConditionReason[],
  required: readonly string[],
  where = '',
): Finding | undefined {
  for (const type of against) {
    const condition = conditions.find((each) => each.type === type && each.status === 'True');
    if (condition !== undefined) return no(type, condition.message);
  }
  const overwritten = conditions.find(({ reason, status }) => reason === 'CainjectorWrites' && status === 'True');
  if (overwritten !== undefined) return no('CainjectorWrites', overwritten.message);
  for (const type of required) {
    const condition = conditions.find((each) => each.type === type);
    const message = `condition ${type} is not known yet`;
    if (condition === undefined) return { status: 'Unknown', reason: 'NotObserved', message };
    if (condition.status !== 'True') return no(condition.reason as ConditionReason, condition.message + where);
  }
  return undefined;
}

/** Returns condition Ready: True if no condition prevents it, otherwise with the first reason. */
function readiness(conditions: readonly Condition[]): Finding {
  const obstacle = obstacleAmong(conditions, ['RemovalBlocked', 'Paused', 'Overlap'], required);
  if (obstacle !== undefined) return obstacle;
  const webhook = conditions.find(({ type }) => type === 'WebhookReady');
  if (webhook?.reason === 'Tagged') return yes(webhook.reason, webhook.message);
  return yes('Serving', 'every live replica serves the published configuration');
}

function certificateStatus(
  { rotation, rotateRequest }: RevisionFindings,
  before: InjectorConfigStatus['certificate'],
): InjectorConfigStatus['certificate'] {
  if (rotation === undefined) return before;
  const { serving, renewAt, phase } = rotation;
  const answer = rotateRequest ?? before?.rotateRequest;
  return {
    ...(serving && {
      notAfter: seconds(serving.notAfter),
      caNotAfter: seconds(serving.caNotAfter),
      fingerprint: serving.fingerprint,
    }),
    renewAt: seconds(renewAt),
    phase,
    ...(answer && { rotateRequest: answer }),
  };
}

/** Formats a time as metav1.Time: RFC 3339 without fractions of a second. */
function seconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
