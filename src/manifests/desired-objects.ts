import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { hashedConfigMapName, objectNames, labelNames } from '../api/names.ts';
import { opaqueSecret, type CertificateMaterial, servingSecret } from './secrets.ts';
import { type ManifestContext, revisionLabels } from './manifest-context.ts';
import { webhookService } from './service.ts';

/**
 * Returns the Secret of the rotation. Write it first, with the resourceVersion that was read, so
 * that only one of two leaders can continue. The objects of this file have no owner reference,
 * because they must outlive the webhook; the operator deletes them in order.
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
  const names = objectNames(config.metadata.name);
  const labels = revisionLabels(config);
  const metadata = { namespace: context.namespace, labels };
  return [
    ...(serving === undefined ? [] : [servingSecret(names.servingSecret, serving, metadata)]),
    webhookService(names.service, labels, context),
  ];
}

/** Returns the ConfigMap for replicas, then a copy under a fixed name for users and the CLI. */
export function configurationObjects(
  config: InjectorConfig,
  files: ConfigurationFiles,
  hash: string,
  { namespace }: ManifestContext,
): KubernetesObject[] {
  const metadata = { name: objectNames(config.metadata.name).configMap, namespace, labels: revisionLabels(config) };
  const plain = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { ...files } };
  return [hashedConfigMap(config, files, hash, namespace), plain];
}

/** Returns the immutable ConfigMap from which replicas load a configuration. */
export function hashedConfigMap(
  config: InjectorConfig,
  files: ConfigurationFiles,
  hash: string,
  namespace: string,
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: hashedConfigMapName(config.metadata.name, hash),
      namespace,
      labels: { ...revisionLabels(config), [labelNames.configurationHash]: hash },
    },
    immutable: true,
    data: { ...files },
  };
}
