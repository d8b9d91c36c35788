import type { Mistake } from '../../api/mistake.ts';
import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';

/** The supported versions of admission.k8s.io. An answer has the version of its request. */
export const reviewVersions = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'] as const;
export type ReviewVersion = (typeof reviewVersions)[number];

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The fields of AdmissionReview.request (k8s.io/api/admission/v1); types are checked. */
export interface AdmissionRequest {
  readonly uid: string;
  /** For example `pods` or `injectorconfigs.sidecar-injector.io`; undefined if missing. */
  readonly resource: string | undefined;
  /** For example `status`; empty for the object itself. */
  readonly subResource: string;
  /** Empty if the API server has not generated the name. */
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

/** Returns the request without its objects, and with the display name as `name`. */
export function withoutObjects(request: AdmissionRequest): AdmissionRequest {
  return { ...request, name: displayName(request), object: null, oldObject: null };
}

/** Returns the object's name or, if it has no name, its generateName; '' if both are missing. */
export function displayName({ name, object }: AdmissionRequest): string {
  if (name !== '' || typeof object !== 'object' || object === null || !('metadata' in object)) return name;
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null || !('generateName' in metadata)) return name;
  return typeof metadata.generateName === 'string' ? metadata.generateName : name;
}

/** The result of an admission, for metrics, logs and the audit log. */
export type AdmissionOutcome = 'injected' | 'skipped' | 'failed' | 'allowed' | 'denied';

export type RolloutTrack = 'stable' | 'canary';

/** A handler's decision, before it is encoded in an AdmissionReview. */
export interface AdmissionDecision {
  readonly outcome: AdmissionOutcome;
  /** A word from a bounded set, for a metric label, e.g. `OptedOutByLabel`. */
  readonly reason: string;
  readonly allowed: boolean;
  readonly patch?: readonly JsonPatchOperation[];
  /** The metav1.Status of a refusal. Its code becomes the HTTP code of the user's request. */
  readonly status?: {
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    readonly causes?: readonly Mistake[];
    /** The refused object, which kubectl shows before the causes. */
    readonly subject?: { readonly kind?: string; readonly name: string };
  };
  /** Warnings for the client; the encoder shortens them. */
  readonly warnings?: readonly string[];
  /** Annotations in the audit log under `<webhook name>/<key>`. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** The InjectorConfig and configuration hash of the injector that decided; else absent. */
  readonly injector?: { readonly name: string; readonly hash: string };
  /** The track of `injector` in a rollout; absent outside of rollouts. */
  readonly track?: RolloutTrack;
}

/** metav1.StatusReason by code (k8s.io/apimachinery/pkg/apis/meta/v1/types.go). */
const statusReasons: Record<number, string> = { 400: 'BadRequest', 403: 'Forbidden', 409: 'Conflict', 422: 'Invalid' };

/** Returns a decision that allows the object without a change. */
export function allowed(reason: string, warnings: readonly string[] = []): AdmissionDecision {
  return { outcome: 'allowed', reason, allowed: true, warnings };
}

/** Returns a decision that refuses the request with a code and its metav1.StatusReason. */
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
