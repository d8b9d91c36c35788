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
