import { ConfigurationError } from '../../api/errors.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { YamlError } from '../yaml/yaml-error.ts';
import { applyToMessage, MessageError, type Message } from './decode-message.ts';
import { messageType } from './message-type.ts';
import { applyProxyConfig, defaultProxyConfig } from './proxy-config.ts';
import { proxyConfigProblems } from './validate-proxy-config.ts';

const type = messageType('istio.mesh.v1alpha1.MeshConfig');
const providersType = messageType('istio.mesh.v1alpha1.MeshConfig.DefaultProviders');

const defaults = {
  proxyListenPort: 15001,
  proxyInboundListenPort: 15006,
  connectTimeout: '10s',
  protocolDetectionTimeout: '0s',
  ingressClass: 'istio',
  ingressService: 'istio-ingressgateway',
  ingressControllerMode: 'STRICT',
  enableTracing: true,
  defaultConfig: defaultProxyConfig,
  outboundTrafficPolicy: { mode: 'ALLOW_ANY' },
  inboundTrafficPolicy: {},
  enableAutoMtls: true,
  trustDomain: 'cluster.local',
  defaultServiceExportTo: ['*'],
  defaultVirtualServiceExportTo: ['*'],
  defaultDestinationRuleExportTo: ['*'],
  rootNamespace: 'istio-system',
  localityLbSetting: { enabled: true },
  dnsRefreshRate: '60s',
  enablePrometheusMerge: true,
  extensionProviders: [
    { name: 'prometheus', prometheus: {} },
    { name: 'stackdriver', stackdriver: {} },
    { name: 'envoy', envoyFileAccessLog: { path: '/dev/stdout' } },
  ],
  defaultProviders: {},
};

/** Istio's default MeshConfig. */
export const defaultMeshConfig = applyToMessage(type, {}, defaults);

/**
 * Parses MeshConfig (key `mesh` of Istio's ConfigMap) over Istio's defaults. Replaces fields, but
 * merges defaultConfig, defaultProviders, extensionProviders (by name) and trustDomainAliases.
 * @throws ConfigurationError
 */
export function loadMeshConfig(text: string): Message {
  const mesh = readMesh(text);
  const problems = proxyConfigProblems(mesh.defaultConfig as Message);
  if (problems.length > 0) {
    const message = `cannot parse mesh config: defaultConfig: ${problems.join('; ')}`;
    throw new ConfigurationError('mesh.defaultConfig', message);
  }
  return mesh;
}

function readMesh(text: string): Message {
  try {
    return mergeMesh(parseYaml(text));
  } catch (error) {
    if (!(error instanceof MessageError || error instanceof YamlError)) throw error;
    throw new ConfigurationError('mesh', `cannot parse mesh config: ${error.message}`, { cause: error });
  }
}

function mergeMesh(yaml: unknown): Message {
  const json = isJsonObject(yaml) ? yaml : {};
  const replaced = applyToMessage(type, defaultMeshConfig, yaml);
  const merged: JsonObject = {
    defaultConfig: applyProxyConfig(defaultProxyConfig, json.defaultConfig),
    defaultProviders: applyToMessage(
      providersType,
      defaultMeshConfig.defaultProviders as Message,
      json.defaultProviders,
    ),
    extensionProviders: mergeProviders(replaced.extensionProviders),
  };
  if (Array.isArray(replaced.trustDomainAliases)) {
    merged.trustDomainAliases = [...new Set(replaced.trustDomainAliases as string[])].sort();
  }
  return applyToMessage(type, replaced, merged);
}

/** Replaces providers of the same name in place; appends other providers. */
function mergeProviders(configured: unknown): Message[] {
  const merged = [...(defaultMeshConfig.extensionProviders as Message[])];
  for (const provider of (configured ?? []) as Message[]) {
    const known = merged.findIndex((other) => other.name === provider.name);
    if (known >= 0) merged[known] = provider;
    else merged.push(provider);
  }
  return merged;
}
