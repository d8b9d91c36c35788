import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { applyToMessage, type Message } from './decode-message.ts';
import { messageType } from './message-type.ts';

const type = messageType('istio.mesh.v1alpha1.ProxyConfig');

/** Istio's ProxyConfig before anything is configured. */
export const defaultProxyConfig = decodeProxyConfig({
  configPath: './etc/istio/proxy',
  binaryPath: '/usr/local/bin/envoy',
  serviceCluster: 'istio-proxy',
  drainDuration: '45s',
  terminationDrainDuration: '5s',
  proxyAdminPort: 15000,
  controlPlaneAuthPolicy: 'MUTUAL_TLS',
  discoveryAddress: 'istiod.istio-system.svc:15012',
  statNameLength: 189,
  statusPort: 15020,
});

/** A ProxyConfig of JSON alone. @throws MessageError */
export function decodeProxyConfig(json: unknown): Message {
  return applyToMessage(type, {}, json);
}

/** The pod annotation that changes the proxy's configuration. */
export const proxyConfigAnnotation = 'proxy.istio.io/config';

/** The annotation's value as a message of its own; `undefined` for one that cannot be read, which the validation of annotations reports. */
export function annotationProxyConfig(value: string): Message | undefined {
  try {
    return decodeProxyConfig(parseYaml(value));
  } catch {
    return undefined;
  }
}

/**
 * The fields of `json` onto `base`, as the command line applies the annotation: what `json` sets is set, even to zero or an empty list.
 * Only proxyMetadata is merged by key and proxyHeaders by sub-field.
 * @throws MessageError
 */
export function applyProxyConfig(base: Message, json: unknown): Message {
  return mergeParts(base, applyToMessage(type, base, json));
}

/**
 * `top` over `base`, as the webhook merges its layers: a field counts when protobuf knows it as set, so zero scalars and empty lists do not
 * override. proxyMetadata is merged by key, proxyHeaders by sub-field.
 */
export function overlayProxyConfig(base: Message, top: Message): Message {
  if (Object.keys(top).length === 0) return base;
  return mergeParts(base, applyToMessage(type, base, top));
}

/** Puts back the keys of proxyMetadata and the sub-fields of proxyHeaders that a replacement as a whole has lost. */
function mergeParts(base: Message, merged: Message): Message {
  const parts: JsonObject = {};
  for (const name of ['proxyMetadata', 'proxyHeaders']) {
    const before = base[name];
    const after = merged[name] ?? {};
    if (before !== after && isJsonObject(before) && isJsonObject(after)) parts[name] = { ...before, ...after };
  }
  return Object.keys(parts).length === 0 ? merged : applyToMessage(type, merged, parts);
}
