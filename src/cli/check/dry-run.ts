import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectedByAnnotation } from '../../api/names.ts';
import { creatableMetadata } from '../../explain/admission-pod.ts';
import { injectedByOf } from '../../explain/stored-pod.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { DryRunAnswer } from './check-report.ts';
import type { Subject } from './subject.ts';

/**
 * Asks the API server by a dry run what it would store: nothing is stored. The pod of a name that exists is asked about under a generated one.
 * @throws ApiError for what is no answer: no connection, no right to create pods
 */
export async function askByDryRun(client: Pick<ApiClient, 'request'>, subject: Subject): Promise<DryRunAnswer> {
  const path = `/api/v1/namespaces/${encodeURIComponent(subject.namespace)}/pods`;
  const options = { query: { dryRun: 'All' }, body: JSON.stringify(creatable(subject)) };
  try {
    const stored = (await client.request('POST', path, options)) as KubernetesObject;
    const injectedBy = injectedByOf(stored);
    return injectedBy.length === 0
      ? { result: 'NotInjected', injectedBy, message: 'it would be stored without a sidecar of ours' }
      : { result: 'Injected', injectedBy, message: `it would be stored injected by ${injectedBy.join(', ')}` };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code < 400) throw error;
    // The right to create pods, or the namespace, is missing: that says nothing about injection.
    if ((error.code === 403 && error.message.includes(' cannot create ')) || error.code === 404) throw error;
    return { result: 'Refused', injectedBy: [], message: error.message };
  }
}

function creatable({ pod, stored }: Subject): JsonObject {
  const { name, ...others } = creatableMetadata(pod);
  const written = Object.entries(objectAt(pod, ['metadata', 'annotations']));
  const annotations = Object.fromEntries(written.filter(([key]) => key !== injectedByAnnotation));
  const named = stored === undefined ? { name } : { generateName: others.generateName ?? `${String(name)}-` };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...others, ...named, annotations }, spec: pod.spec };
}
