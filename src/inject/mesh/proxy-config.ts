import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { applyToMessage, type Message } from './decode-message.ts';
import { messageType } from './message-type.ts';

const type = messageType('istio.mesh.v1alpha1.ProxyConfig');

/** Istio's default ProxyConfig. */
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

/** Decodes a ProxyConfig. @throws MessageError */
export function decodeProxyConfig(json: unknown): Message {
  return applyToMessage(type, {}, json);
}

/** The pod annotation that changes the proxy's configuration. */
export const proxyConfigAnnotation = 'proxy.istio.io/config';

/** Parses the annotation; `undefined` if it is invalid. Annotation validation reports the error. */
export function annotationProxyConfig(value: string): Message | undefined {
  try {
    return decodeProxyConfig(parseYaml(value));
  } catch {
    return undefined;
  }
}

/**
 * Applies `json` to `base` like the command line: sets all fields in `json`, even to zero or empty
 * lists. Merges proxyMetadata by key and proxyHeaders by sub-field.
 * @throws MessageError
 */
export function applyProxyConfig(base: Message, json: unknown): Message {
  return mergeParts(base, applyToMessage(type, base, json));
}

/**
 * Merges `top` over `base` like the webhook: ignores zero scalars and empty lists, which protobuf
 * considers unset. Merges proxyMetadata by key and proxyHeaders by sub-field.
 */
export function overlayProxyConfig(base: Message, top: Message): Message {
  if (Object.keys(top).length === 0) return base;
  return mergeParts(base, applyToMessage(type, base, top));
}

/** Restores keys of proxyMetadata and sub-fields of proxyHeaders that the replacement lost. */
function mergeParts(base: Message, merged: Message): Message {
  const parts: JsonObject = {};
  for (const name of ['proxyMetadata', 'proxyHeaders']) {
    const before = base[name];
    const after = merged[name] ?? {};
    if (before !== after && isJsonObject(before) && isJsonObject(after)) parts[name] = { ...before, ...after };
  }
  return Object.keys(parts).length === 0 ? merged : applyToMessage(type, merged, parts);
}
