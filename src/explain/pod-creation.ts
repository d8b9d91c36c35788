import type { JsonObject } from '../inject/patch/json-value.ts';
import type { Labels } from '../selection/label-selector.ts';

/** The creator of a pod, as in `request.userInfo`. */
export interface Creator {
  readonly username: string;
  readonly groups: readonly string[];
}

export interface PodCreation {
  /** The pod with the API server's defaults (see `admission-pod.ts`). */
  readonly pod: JsonObject;
  readonly namespace: {
    readonly name: string;
    /** The labels, including `kubernetes.io/metadata.name`. */
    readonly labels: Labels;
    readonly annotations?: Labels;
  };
  /** If the creator is undefined, the results of conditions that use the creator are unknown. */
  readonly creator?: Creator;
}

const pods = { group: '', version: 'v1', resource: 'pods' };
const podKind = { group: '', version: 'v1', kind: 'Pod' };

/** Returns the AdmissionRequest for matchConditions (k8s.io/apiserver/pkg/admission/plugin/cel). */
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
