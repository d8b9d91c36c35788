import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';

/** The part of the client that is needed, so that a test can answer for a cluster. */
export type ConfigMapReader = Pick<ApiClient, 'get'>;

const configMaps = resourceKind('v1', 'ConfigMap');

/**
 * Reads one key of a ConfigMap. The wording is Istio's, which people search for; what to do is ours.
 * @throws ConfigurationError naming the ConfigMap, the namespace, the key, and the flag with which a file replaces it.
 */
export async function readConfigMapKey(
  client: ConfigMapReader,
  namespace: string,
  name: string,
  key: string,
  flag: string,
): Promise<string> {
  let configMap: KubernetesObject;
  try {
    configMap = await client.get(configMaps, name, { namespace });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ConfigurationError(
      name,
      `could not read valid configmap "${name}" from namespace "${namespace}": ${error.message} - use ${flag}, or -i for another namespace and --revision for another revision`,
      { cause: error },
    );
  }
  const text = (configMap.data as Record<string, string> | undefined)?.[key];
  if (text === undefined) {
    throw new ConfigurationError(
      name,
      `missing configuration map key "${key}" in configmap "${name}" of namespace "${namespace}" - add it, or use ${flag}`,
    );
  }
  return text;
}
