import type { Mistake } from '../../api/mistake.ts';
import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';

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
const statusReasons: Record<number, string> = {
  400: 'BadRequest',
  403: 'Forbidden',
  409: 'Conflict',
  422: 'Invalid',
};

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
