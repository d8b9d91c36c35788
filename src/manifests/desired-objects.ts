import type { ConfigurationFiles } from '../api/configuration-files.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { objectNames } from '../api/names.ts';
import type { CertificateMaterial } from './certificate-material.ts';
import { hashedConfigMap, plainConfigMap } from './config-maps.ts';
import type { ManifestContext } from './manifest-context.ts';
import { revisionLabels } from './revision-labels.ts';
import { authoritySecret, servingSecret } from './secrets.ts';
import { webhookService } from './service.ts';
import { webhookConfiguration } from './webhook-configuration.ts';

export interface DesiredInput {
  readonly config: InjectorConfig;
  readonly files: ConfigurationFiles;
  readonly hash: string;
  readonly certificates: CertificateMaterial;
}

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
  return authoritySecret(name, stored, { namespace, labels: revisionLabels(config) });
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
  return [hashedConfigMap(config, files, hash, namespace), plainConfigMap(config, files, namespace)];
}

/** Everything an InjectorConfig produces, in the order of application; removal goes the other way. */
export function desiredObjects(input: DesiredInput, context: ManifestContext): KubernetesObject[] {
  const { config, files, hash, certificates } = input;
  return [
    rotationSecret(config, certificates.stored, context),
    ...servingObjects(config, certificates.serving, context),
    ...configurationObjects(config, files, hash, context),
    webhookConfiguration({ config, hash, caBundlePem: certificates.caBundlePem }, context),
  ];
}
