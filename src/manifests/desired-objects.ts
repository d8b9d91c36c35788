import { Buffer } from 'node:buffer';
import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { hashedConfigMapName, objectNames, labelNames, nativeSidecarsAnnotation } from '../api/names.ts';
import type { Rotation } from '../certs/rotation/rotation.ts';
import type { ServingPair } from '../certs/verify-chain.ts';
import { type ManifestContext, revisionLabels } from './manifest-context.ts';

/** The data that a rotation pass writes. Without `serving`, the serving Secret does not change. */
export interface CertificateMaterial extends Pick<Rotation, 'stored' | 'caBundlePem'> {
  readonly serving?: ServingPair;
}

/**
 * Returns the Secret of the rotation. Write it first, with the resourceVersion that was read, so
 * that only one of two leaders can continue. The objects of an InjectorConfig in this file have no
 * owner reference, because they must outlive the webhook; the operator deletes them in order.
 */
export function rotationSecret(
  config: InjectorConfig,
  stored: CertificateMaterial['stored'],
  { namespace }: ManifestContext,
): KubernetesObject {
  const { authoritySecret: name } = objectNames(config.metadata.name);
  return opaqueSecret(name, stored, { namespace, labels: revisionLabels(config) });
}

/** Returns the Service of a webhook, and the serving Secret if `serving` is set. */
export function servingObjects(
  config: InjectorConfig,
  serving: CertificateMaterial['serving'],
  context: ManifestContext,
): KubernetesObject[] {
  return objectsToServe(objectNames(config.metadata.name), serving, revisionLabels(config), context);
}

/** Returns what {@link servingObjects} returns, also for the validating webhook. */
export function objectsToServe(
  names: { readonly servingSecret: string; readonly service: string },
  serving: CertificateMaterial['serving'],
  labels: Readonly<Record<string, string>>,
  context: ManifestContext,
): KubernetesObject[] {
  const service = webhookService(names.service, labels, context);
  if (serving === undefined) return [service];
  // As replicas serve it, with the authority in ca.crt.
  const { certificatePem, privateKeyPem, caPem } = serving;
  const texts = { 'ca.crt': caPem, 'tls.crt': certificatePem, 'tls.key': privateKeyPem };
  const metadata = { namespace: context.namespace, labels };
  return [secret(names.servingSecret, 'kubernetes.io/tls', texts, metadata), service];
}

/** Returns a Secret of the controller with keys and state, which change atomically. */
export function opaqueSecret(
  name: string,
  texts: Readonly<Record<string, string>>,
  metadata: SecretMetadata,
): KubernetesObject {
  return secret(name, 'Opaque', texts, metadata);
}

interface SecretMetadata {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

function secret(
  name: string,
  type: string,
  texts: Readonly<Record<string, string>>,
  { namespace, labels }: SecretMetadata,
): KubernetesObject {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)]));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels: { ...labels } }, type, data };
}

export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** The port of each Service, and the default port of a clientConfig. */
const servicePort = 443;

/**
 * Returns the Service at which the API server calls a webhook. All Services select the same pods,
 * but each webhook needs its own Service, because the Service's name is the SNI.
 */
function webhookService(
  name: string,
  labels: Readonly<Record<string, string>>,
  { namespace, podSelector, targetPort, advertise }: ManifestContext,
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { ...labels } },
    spec:
      advertise === undefined
        ? {
            type: 'ClusterIP',
            selector: { ...podSelector },
            ports: [{ name: 'https', port: servicePort, protocol: 'TCP', targetPort }],
          }
        : { type: 'ExternalName', externalName: advertise.host },
  };
}

interface ClientConfigInput {
  readonly service: string;
  readonly path: string;
  readonly caBundlePem: string;
  /** Replaces the Service: https://HOST[:PORT][/PATH]; {@link clientConfig} appends `path`. */
  readonly url?: string;
}

/** Returns a WebhookClientConfig with all defaults, so that it equals the live object. */
export function clientConfig(
  { service, path, caBundlePem, url }: ClientConfigInput,
  { namespace, advertise }: ManifestContext,
): Record<string, unknown> {
  const caBundle = base64(caBundlePem);
  if (url !== undefined) return { caBundle, url: withoutTrailingSlashes(url) + path };
  return { caBundle, service: { namespace, name: service, path, port: advertise?.port ?? servicePort } };
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

/** Returns the ConfigMap for replicas, then a copy under a fixed name for users and the CLI. */
export function configurationObjects(
  config: InjectorConfig,
  files: ConfigurationFiles,
  hash: string,
  { namespace }: ManifestContext,
  mode?: 'Enabled' | 'Disabled',
): KubernetesObject[] {
  const metadata = { name: objectNames(config.metadata.name).configMap, namespace, labels: revisionLabels(config) };
  const plain = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { ...files } };
  return [hashedConfigMap(config, files, hash, namespace, mode), plain];
}

/**
 * Returns the immutable ConfigMap from which replicas load a configuration.
 * @param mode replaces `nativeSidecars: Auto` in the settings
 */
export function hashedConfigMap(
  config: InjectorConfig,
  files: ConfigurationFiles,
  hash: string,
  namespace: string,
  mode?: 'Enabled' | 'Disabled',
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: hashedConfigMapName(config.metadata.name, hash),
      namespace,
      labels: { ...revisionLabels(config), [labelNames.configurationHash]: hash },
      ...(mode && { annotations: { [nativeSidecarsAnnotation]: mode } }),
    },
    immutable: true,
    data: { ...files },
  };
}
