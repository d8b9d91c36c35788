import { mergeConditions, type ObservedCondition } from '../../api/kubernetes/conditions.ts';
import {
  revisionOf,
  type InjectorConfig,
  type InjectorConfigStatus,
} from '../../api/injector-config/injector-config.ts';
import type { Condition } from '../../api/kubernetes/kubernetes.ts';
import { usageOf, type UsageStatus } from '../../api/injector-config/usage-status.ts';
import type { Rotation } from '../../certs/rotation/rotation.ts';
import type { RotateAnswer } from '../certificates/rotate-requests.ts';

/** What a pass found out about one thing. */
export interface Finding {
  readonly status: 'True' | 'False' | 'Unknown';
  /** One CamelCase word. */
  readonly reason: string;
  /** A sentence for people, the same for as long as nothing changes. */
  readonly message: string;
}

/** What does not hold. */
export function no(reason: string, message: string): Finding {
  return { status: 'False', reason, message };
}

/** What a reconcile found; absent findings leave the conditions as they were. */
export interface RevisionFindings {
  TemplatesValid?: Finding;
  CertificateReady?: Finding;
  WebhookReady?: Finding;
  /** Shown only once it has been true. */
  Overlap?: Finding;
  /** Shown only once it has been true. */
  ForeignOverlap?: Finding;
  /** Shown only once it has been true. */
  Conflict?: Finding;
  /** Shown only once it has been true. */
  Narrowed?: Finding;
  /** Shown only once it has been true. */
  Paused?: Finding;
  /** Shown only once it has been true. */
  RemovalBlocked?: Finding;
  /** The hash that the webhook names now. */
  publishedHash?: string | undefined;
  /** How many live replicas say that they serve it. */
  servedBy?: number;
  /** The hash of a configuration that takes too much to load. */
  refusedHash?: string | undefined;
  rotation?: Rotation | undefined;
  /** The answer to the latest request for a renewal. */
  rotateRequest?: RotateAnswer | undefined;
  /** Who uses it; absent: as it was. */
  usage?: UsageStatus | undefined;
}

const required = ['TemplatesValid', 'CertificateReady', 'WebhookReady'] as const;
const exceptional = ['Overlap', 'ForeignOverlap', 'Conflict', 'Narrowed', 'Paused', 'RemovalBlocked'] as const;

/** The conditions that findings come to; exceptional ones are omitted until they are first True. */
export function observedConditions<Type extends string>(
  always: readonly Type[],
  exceptions: readonly Type[],
  findings: { readonly [type in Type]?: Finding | undefined },
  before: readonly Condition[],
  observedGeneration: number,
): ObservedCondition[] {
  return [...always, ...exceptions].flatMap((type) => {
    const finding = findings[type];
    const isShown = always.includes(type) || finding?.status === 'True' || before.some((each) => each.type === type);
    return finding === undefined || !isShown ? [] : [{ type, observedGeneration, ...finding }];
  });
}

/** The status that follows from the findings; deeply equal to the one before when nothing has changed. */
export function revisionStatus(config: InjectorConfig, findings: RevisionFindings, now: Date): InjectorConfigStatus {
  const before = config.status;
  const observedGeneration = config.metadata.generation ?? 0;
  const observed = observedConditions(required, exceptional, findings, before?.conditions ?? [], observedGeneration);
  const merged = mergeConditions(before?.conditions ?? [], observed, now);
  const conditions = mergeConditions(merged, [{ type: 'Ready', observedGeneration, ...readiness(merged) }], now);
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

/** Ready is everything that is required; the first thing that is not says why. */
function readiness(conditions: readonly Condition[]): Finding {
  for (const type of ['RemovalBlocked', 'Paused', 'Overlap']) {
    const condition = conditions.find((each) => each.type === type && each.status === 'True');
    if (condition !== undefined) return { status: 'False', reason: type, message: condition.message };
  }
  for (const type of required) {
    const condition = conditions.find((each) => each.type === type);
    if (condition === undefined)
      return { status: 'Unknown', reason: 'NotObserved', message: `${type} is not known yet` };
    if (condition.status !== 'True') return { status: 'False', reason: condition.reason, message: condition.message };
  }
  const webhook = conditions.find(({ type }) => type === 'WebhookReady');
  if (webhook?.reason === 'Tagged') return { status: 'True', reason: webhook.reason, message: webhook.message };
  return { status: 'True', reason: 'Serving', message: 'every live replica serves the published configuration' };
}

function certificateStatus(
  { rotation, rotateRequest }: RevisionFindings,
  before: InjectorConfigStatus['certificate'],
): InjectorConfigStatus['certificate'] {
  if (rotation === undefined) return before;
  const { serving, renewAt, phase } = rotation;
  const answer = rotateRequest ?? before?.rotateRequest;
  return {
    ...(serving === undefined
      ? {}
      : {
          notAfter: seconds(serving.notAfter),
          caNotAfter: seconds(serving.caNotAfter),
          fingerprint: serving.fingerprint,
        }),
    renewAt: seconds(renewAt),
    phase,
    ...(answer === undefined ? {} : { rotateRequest: answer }),
  };
}

/** metav1.Time: RFC 3339 without fractions of a second. */
function seconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
