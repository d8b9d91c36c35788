import type { JsonObject } from '../inject/patch/json-value.ts';
import type { Labels } from '../selection/label-selector.ts';

/** Who creates a pod, as `request.userInfo` names them. */
export interface Creator {
  readonly username: string;
  readonly groups: readonly string[];
}

/** The creation of one pod, as it reaches the API server. */
export interface PodCreation {
  /** With the API server's defaults (see `admission-pod.ts`). */
  readonly pod: JsonObject;
  readonly namespace: {
    readonly name: string;
    /** With `kubernetes.io/metadata.name`. */
    readonly labels: Labels;
    readonly annotations?: Labels;
  };
  /** Undefined where it is not known: conditions that ask for it cannot be told. */
  readonly creator?: Creator;
}

const pods = { group: '', version: 'v1', resource: 'pods' };
const podKind = { group: '', version: 'v1', kind: 'Pod' };

/** The AdmissionRequest that matchConditions see: without the objects (k8s.io/apiserver/pkg/admission/plugin/cel). */
export function conditionRequest({ namespace, creator }: PodCreation, pod: JsonObject): JsonObject {
  const { name } = pod.metadata as { name?: unknown };
  return {
    kind: podKind,
    resource: pods,
    requestKind: podKind,
    requestResource: pods,
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
    namespace: namespace.name,
    operation: 'CREATE',
    ...(creator && { userInfo: creator }),
    dryRun: false,
  };
}
