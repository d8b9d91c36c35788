import type { OwnerReference } from '../api/kubernetes/kubernetes.ts';
import { type InjectorConfig, revisionOf } from '../api/injector-config/injector-config.ts';
import { labelNames, managedBy } from '../api/names.ts';

/** Where the operator lives and how it is reached: the same for every object it writes. */
export interface ManifestContext {
  /** The operator's own namespace: home of Secrets, Services and ConfigMaps, and never injected. */
  readonly namespace: string;
  readonly operatorClass: string;
  /** Labels of the pods that serve admission. */
  readonly podSelector: Readonly<Record<string, string>>;
  /** The port on which those pods serve admission (15017 unless told). */
  readonly targetPort: number;
  /** Owner of the webhook configurations, so that garbage collection removes them with the installation. */
  readonly owner?: OwnerReference;
  /** Where a process outside the cluster serves instead of pods: the Services become ExternalName `host`, webhooks name `port`. */
  readonly advertise?: { readonly host: string; readonly port: number };
}

/** The labels of every object of an InjectorConfig; {@link import('../api/names.ts').labelNames} says what each means. */
export function revisionLabels(config: InjectorConfig): Record<string, string> {
  return {
    [labelNames.managedBy]: managedBy,
    [labelNames.operatorClass]: config.spec.operatorClass,
    [labelNames.injectorConfig]: config.metadata.name,
    [labelNames.revision]: revisionOf(config),
  };
}
