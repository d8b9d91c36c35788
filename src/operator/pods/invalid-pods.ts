import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { hashedConfigMapName } from '../../api/names.ts';
import { admissionPod } from '../../inject/kubernetes/admission-pod.ts';
import { findInvalidFields } from '../../inject/validity/find-invalid-fields.ts';
import type { ConfigurationRef } from '../../routing/route.ts';
import type { ClusterView } from '../cluster-view.ts';
import { servedFiles } from '../configurations/last-good.ts';
import type { RehearsePods } from '../ports.ts';

/**
 * Resolves with whether the API server's validation refuses a pod, after a published configuration
 * injected it, if one is given. Undefined if the configuration does not inject the pod.
 */
export type IsInvalid = (pod: KubernetesObject, by?: ConfigurationRef) => Promise<boolean | undefined>;

/** Returns a function that injects a pod in another process, and examines the result. */
export function invalidAfterInjection(
  view: Pick<ClusterView, 'configMaps'>,
  ownNamespace: string,
  rehearse: RehearsePods,
): IsInvalid {
  return async (stored, by) => {
    const { namespace = '' } = stored.metadata;
    const pod = admissionPod(stored, namespace);
    if (by === undefined) return findInvalidFields(pod).length > 0;
    const configMap = view.configMaps.get(hashedConfigMapName(by.injectorConfig, by.hash), ownNamespace);
    const served = configMap && servedFiles(configMap);
    if (served === undefined) return undefined;
    const { unusable, injected = [] } = await rehearse(served.files, [{ kind: 'a pod', namespace, pod }]);
    return unusable !== undefined || (injected.length > 0 ? false : undefined);
  };
}
