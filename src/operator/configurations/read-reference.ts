import { ConfigurationError } from '../../api/errors.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { ConfigurationReference } from '../../manifests/configuration-references.ts';
import type { FollowedObjects } from '../followed-objects.ts';

/**
 * The text that an InjectorConfig refers to.
 * @param user metadata.name of the InjectorConfig
 * @param where names the InjectorConfig and the field
 * @throws ConfigurationError naming field, ConfigMap, key, namespace and revision when there is none, in Istio's words, which people search for.
 */
export async function readReference(
  configMaps: FollowedObjects,
  user: string,
  where: string,
  reference: ConfigurationReference,
  signal: AbortSignal,
): Promise<string> {
  const { field, namespace, name, key } = reference;
  const unreadable = `could not read valid configmap "${name}" from namespace "${namespace}" (key "${key}")`;
  const refusal = (what: string): ConfigurationError => new ConfigurationError(field, `${where}: ${what}`);
  const object = await configMaps.read(user, reference, signal).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    const advice = 'it may not be read; grant the operator get, list and watch on configmaps there';
    throw refusal(`${unreadable}: ${advice} (${error.message})`);
  });
  if (object === undefined) throw refusal(`${unreadable}: it does not exist; create it or correct the reference`);
  const data = (object.data ?? {}) as Record<string, string>;
  if (data[key] !== undefined) return data[key];
  const keys = Object.keys(data).sort();
  const have = keys.length === 0 ? 'it has none' : `it has ${keys.join(', ')}`;
  throw refusal(
    `missing configuration map key "${key}" in configmap "${name}" of namespace "${namespace}": ${have}; add it or correct the reference`,
  );
}
