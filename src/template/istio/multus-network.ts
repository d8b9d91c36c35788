import { limitOf } from '../meter.ts';
import { decodeJson } from '../json-decode.ts';
import { property } from '../typed-value.ts';

/**
 * The value of the annotation `k8s.v1.cni.cncf.io/networks` with Istio's network added: a list of names, or JSON. JSON that cannot be
 * read stays as it is.
 *
 * @param network `name` or `namespace/name`.
 */
export function appendMultusNetwork(existing: string, network: string): string {
  if (existing === '') return network;
  const end = existing.lastIndexOf(']');
  if (end < 0) {
    const names = existing.split(',').map((name) => name.trim());
    return names.includes(network) ? existing : `${existing}, ${network}`;
  }
  const slash = network.indexOf('/');
  const namespace = slash < 0 ? '' : network.slice(0, slash);
  const name = network.slice(slash + 1);
  const networks = readNetworks(existing);
  const isPresent = (item: unknown): boolean =>
    property(item, 'name') === name && (namespace === '' || property(item, 'namespace') === namespace);
  if (networks === undefined || networks.some(isPresent)) return existing;
  const added = namespace === '' ? `{"name": "${name}"}` : `{"name": "${name}", "namespace": "${namespace}"}`;
  return `${existing.slice(0, end)}, ${added}${existing.slice(end)}`;
}

function readNetworks(json: string): readonly unknown[] | undefined {
  try {
    const value = decodeJson(json);
    return Array.isArray(value) ? (value as unknown[]) : undefined;
  } catch (error) {
    if (limitOf(error) !== undefined) throw error;
    return undefined;
  }
}
