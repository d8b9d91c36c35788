import type { Mistake } from '../../api/mistake.ts';
import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';

/** The versions of admission.k8s.io that are answered, each in its own version. */
export const reviewVersions = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'] as const;
export type ReviewVersion = (typeof reviewVersions)[number];

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The parts of AdmissionReview.request that handlers read (k8s.io/api/admission/v1), checked for their types; objects stay as they came. */
export interface AdmissionRequest {
  readonly uid: string;
  /** Group and resource, e.g. `pods` or `injectorconfigs.sidecar-injector.io`; undefined when the review does not say. */
  readonly resource: string | undefined;
  /** `status`, `ephemeralcontainers` …; empty for the object itself. */
  readonly subResource: string;
  /** Empty when the name is yet to be generated. */
  readonly name: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly operation: AdmissionOperation;
  readonly dryRun: boolean;
  /** The new object; null on DELETE. */
  readonly object: unknown;
  /** The stored object on UPDATE and DELETE, otherwise null. */
  readonly oldObject: unknown;
}

/** What is kept of a request: no objects, but the name that people know it by. */
export function withoutObjects(request: AdmissionRequest): AdmissionRequest {
  return { ...request, name: nameForPeople(request), object: null, oldObject: null };
}

/** The object's name for people: its own, or what the one that is yet to be generated begins with; empty when it has neither. */
export function nameForPeople({ name, object }: AdmissionRequest): string {
  if (name !== '' || typeof object !== 'object' || object === null || !('metadata' in object)) return name;
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null || !('generateName' in metadata)) return name;
  return typeof metadata.generateName === 'string' ? metadata.generateName : name;
}

/** What became of an admission, for metrics, logs and the audit log. */
export type AdmissionOutcome = 'injected' | 'skipped' | 'failed' | 'allowed' | 'denied';

/** Of a rollout: what is there, or what is to take its place. */
export type RolloutTrack = 'stable' | 'canary';

/** A handler's verdict, before it is put into an AdmissionReview. */
export interface AdmissionDecision {
  readonly outcome: AdmissionOutcome;
  /** A short word from a bounded set (a label of metrics), e.g. `policy` or `templateError`. */
  readonly reason: string;
  readonly allowed: boolean;
  /** Changes to the object; none or empty: it stays as it is. */
  readonly patch?: readonly JsonPatchOperation[];
  /** metav1.Status of a refusal: the HTTP code that the user's request gets, and why. */
  readonly status?: {
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    readonly causes?: readonly Mistake[];
    /** The object; kubectl names it before the causes. */
    readonly subject?: { readonly kind?: string; readonly name: string };
  };
  /** Shown to whoever made the request; shortened to what Kubernetes shows. */
  readonly warnings?: readonly string[];
  /** Put into the audit log under `<webhook name>/<key>`. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** The injector that decided, as `N` and `hash8`; absent where none did. */
  readonly injector?: { readonly name: string; readonly hash: string };
  /** Which of the two injectors of a rollout that is; absent outside of rollouts. */
  readonly track?: RolloutTrack;
}

/** metav1.StatusReason by code (k8s.io/apimachinery/pkg/apis/meta/v1/types.go); any other is an InternalError. */
const statusReasons: Record<number, string> = { 400: 'BadRequest', 403: 'Forbidden', 409: 'Conflict', 422: 'Invalid' };

/** Allowed as it came. */
export function allowed(reason: string, warnings: readonly string[] = []): AdmissionDecision {
  return { outcome: 'allowed', reason, allowed: true, warnings };
}

/** Refused, with the code and metav1.StatusReason that the user's request gets. */
export function denied(
  reason: string,
  code: number,
  message: string,
  causes: readonly Mistake[] = [],
  subject?: NonNullable<AdmissionDecision['status']>['subject'],
): AdmissionDecision {
  const status = { code, reason: statusReasons[code] ?? 'InternalError', message, causes, ...(subject && { subject }) };
  return { outcome: 'denied', reason, allowed: false, status };
}
