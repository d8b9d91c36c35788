import type { AdmissionRequest } from '../admission/admission-decision.ts';

export const injectPath = '/revisions/default/0a1b2c3d/inject';

/** Returns a distinct uid in the form of the API server. */
export function uidOf(number: number): string {
  return `705ab4f5-6393-11e8-b7cc-${String(number).padStart(12, '0')}`;
}

export const somePod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { generateName: 'web-6d4f-', labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
};

/** Returns a decoded request that creates a pod. */
export function podCreation(changes: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    uid: 'uid-1',
    resource: 'pods',
    subResource: '',
    name: '',
    namespace: 'shop',
    operation: 'CREATE',
    dryRun: false,
    object: somePod,
    oldObject: null,
    ...changes,
  };
}

/** Returns an AdmissionReview as the API server sends it, with changes to its request. */
export function reviewOf(request: Record<string, unknown> = {}, envelope: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'uid-1',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'shop',
      operation: 'CREATE',
      userInfo: { username: 'alice' },
      object: somePod,
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      ...request,
    },
    ...envelope,
  };
}

export function bytesOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** The fields of an answer that tests inspect. */
export interface AnsweredReview {
  readonly kind: string;
  readonly apiVersion: string;
  readonly response: {
    readonly uid: string;
    readonly allowed: boolean;
    readonly status?: { readonly status: string; readonly code: number; readonly reason: string; readonly message: string; readonly details?: unknown };
    readonly patch?: string;
    readonly patchType?: string;
    readonly warnings?: readonly string[];
    readonly auditAnnotations?: Readonly<Record<string, string>>;
  };
}

export function answeredReview(body: string): AnsweredReview {
  return JSON.parse(body) as AnsweredReview;
}

/** Returns the operations of an answer's patch. */
export function patchOf(answer: AnsweredReview): unknown {
  return answer.response.patch === undefined ? undefined : JSON.parse(Buffer.from(answer.response.patch, 'base64').toString());
}
