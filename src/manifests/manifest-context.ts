import type { OwnerReference } from '../api/kubernetes/kubernetes.ts';
import { type InjectorConfig, revisionOf } from '../api/injector-config/injector-config.ts';
import { labelNames, managedBy } from '../api/names.ts';

/** The settings of the installation that the manifests need. */
export interface ManifestContext {
  /** The operator's namespace, which contains its objects. Pods in it are never injected. */
  readonly namespace: string;
  readonly operatorClass: string;
  /** The labels of the replicas. */
  readonly podSelector: Readonly<Record<string, string>>;
  /** The port on which replicas serve admission. */
  readonly targetPort: number;
  /** The owner of the webhook configurations. Garbage collection deletes them with the owner. */
  readonly owner?: OwnerReference;
  /** The host and port of the Services; set if a process outside the cluster serves. */
  readonly advertise?: { readonly host: string; readonly port: number };
}

/** Returns the labels of every object of an InjectorConfig. */
export function revisionLabels(config: InjectorConfig): Record<string, string> {
  return {
    [labelNames.managedBy]: managedBy,
    [labelNames.operatorClass]: config.spec.operatorClass,
    [labelNames.injectorConfig]: config.metadata.name,
    [labelNames.revision]: revisionOf(config),
  };
}
