import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { hashedConfigMapName, objectNames, labelNames } from '../api/names.ts';
import { opaqueSecret, type CertificateMaterial, servingSecret } from './secrets.ts';
import { type ManifestContext, revisionLabels } from './manifest-context.ts';
import { webhookService } from './service.ts';

/**
 * The Secret of the rotation, to be written first and with the resourceVersion that was read, so that two leaders cannot both go on from it.
 * No object here but the webhook configuration has an owner: all must outlive the webhook that needs them, so the operator removes them in order.
 */
export function rotationSecret(
  config: InjectorConfig,
  stored: CertificateMaterial['stored'],
  { namespace }: ManifestContext,
): KubernetesObject {
  const { authoritySecret: name } = objectNames(config.metadata.name);
  return opaqueSecret(name, stored, { namespace, labels: revisionLabels(config) });
}

/** What a webhook needs before it may be called, whatever its configuration: the serving certificate (unless it is to stay) and the Service. */
export function servingObjects(
  config: InjectorConfig,
  serving: CertificateMaterial['serving'],
  context: ManifestContext,
): KubernetesObject[] {
  const names = objectNames(config.metadata.name);
  const labels = revisionLabels(config);
  const place = { namespace: context.namespace, labels };
  return [
    ...(serving === undefined ? [] : [servingSecret(names.servingSecret, serving, place)]),
    webhookService(names.service, labels, context),
  ];
}

/** The configuration: first for replicas, then for people. */
export function configurationObjects(
  config: InjectorConfig,
  files: ConfigurationFiles,
  hash: string,
  { namespace }: ManifestContext,
): KubernetesObject[] {
  const metadata = { name: objectNames(config.metadata.name).configMap, namespace, labels: revisionLabels(config) };
  // The same under a name that stays, for people and for the command line.
  const plain = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { ...files } };
  return [hashedConfigMap(config, files, hash, namespace), plain];
}

/** The ConfigMap that replicas load a configuration from. It never changes: another configuration has another name. */
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
