import { isJsonObject, type JsonObject } from '../inject/patch/json-value.ts';
import { without } from '../inject/pod/without.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import { handlerFields } from '../inject/probes/handlers.ts';
import { listOf } from '../inject/kubernetes/admission-pod.ts';

/** A field whose value before the injection is not known. */
export interface LostField {
  /** For example `spec.containers[web].readinessProbe.httpGet.port`. */
  readonly field: string;
  readonly reason: string;
}

/**
 * Restores the probes and hooks of a container that were redirected to the proxy's agent.
 * @param list `containers` or `initContainers`
 * @param probers the originals by URL path (ISTIO_KUBE_APP_PROBERS)
 */
export function restoreHandlers(container: JsonObject, list: string, probers: JsonObject, lost: LostField[]) {
  const result = { ...container };
  const lifecycle = { ...objectAt(container, ['lifecycle']) };
  for (const [name, kind, root, file] of handlerFields) {
    const holder = kind === 'probe' ? result : lifecycle;
    const handler = holder[name];
    const path = `/${root}/${String(container.name)}/${file}`;
    if (!isJsonObject(handler) || objectAt(handler, ['httpGet']).path !== path) continue;
    const field = `spec.${list}[${String(container.name)}].${holder === result ? name : `lifecycle.${name}`}`;
    const original = Object.hasOwn(probers, path) ? probers[path] : undefined;
    if (!isJsonObject(original)) {
      lost.push({ field, reason: 'it was redirected to the proxy, and the proxy does not record its original' });
      continue;
    }
    // A redirected HTTP probe keeps its scheme.
    const isOther = 'scheme' in objectAt(original, ['httpGet']) && !('scheme' in objectAt(handler, ['httpGet']));
    if (isOther) lost.push({ field, reason: 'it was changed between two injections, and the proxy records the first' });
    holder[name] = restored(handler, original, container, field, lost);
  }
  if (Object.keys(lifecycle).length > 0) result.lifecycle = lifecycle;
  return result;
}

function restored(handler: JsonObject, original: JsonObject, { ports }: JsonObject, field: string, lost: LostField[]) {
  const others = without(handler, 'httpGet');
  for (const kind of ['httpGet', 'tcpSocket', 'grpc']) {
    const action = original[kind];
    if (!isJsonObject(action)) continue;
    if (kind === 'grpc') return { ...others, grpc: action.service === null ? { port: action.port } : action };
    const named = listOf(ports).findLast(
      ({ name, containerPort }) => containerPort === action.port && typeof name === 'string',
    );
    if (named === undefined) return { ...others, [kind]: action };
    lost.push({ field: `${field}.${kind}.port`, reason: 'the proxy records the number of a named port' });
    return { ...others, [kind]: { ...action, port: named.name } };
  }
  return others;
}
