import type { ConfigurationFiles } from '../api/configuration-files.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { labelNames } from '../api/labels.ts';
import { hashedConfigMapName, objectNames } from '../api/names.ts';
import { revisionLabels } from './revision-labels.ts';

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

/** The same configuration under a name that stays, for people and for the command line. */
export function plainConfigMap(config: InjectorConfig, files: ConfigurationFiles, namespace: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: objectNames(config.metadata.name).configMap, namespace, labels: revisionLabels(config) },
    data: { ...files },
  };
}
