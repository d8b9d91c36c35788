import type { AnnotationOverrides } from './annotation-overrides.ts';
import type { WebhookKeys } from './webhook-keys.ts';

/** Whether to inject native sidecars (init containers with restartPolicy Always). */
export type NativeSidecars = 'Auto' | 'Enabled' | 'Disabled';

/** Whether the resources of a pod itself (`spec.resources`) grow by those of the sidecar. */
export type PodResourcesMode = 'Keep' | 'Add';

/** Whether pods with `spec.os.name: windows` are injected. */
type WindowsPods = 'Skip' | 'Inject';

/** The settings of a configuration for which Istio's config, values and mesh have no key. */
export interface InjectionSettings {
  /** `.Revision` of templates, the value of `istio.io/rev` and of the status annotation. */
  readonly revision: string;
  /** The left and right template delimiters: `{{ }}`, or `[[ ]]` for the format of Istio 1.x. */
  readonly delimiters: readonly [string, string];
  readonly nativeSidecars: NativeSidecars;
  readonly keys: WebhookKeys;
  /** Proxy environment variables, keyed by the names in a path like `/inject/cluster/c1/net/n1`. */
  readonly pathEnvironment: Readonly<Record<string, string>>;
  /** On OpenShift, namespace ranges determine the proxy's user and group. Default: Kubernetes. */
  readonly platform?: 'Kubernetes' | 'OpenShift';
  /** `.CompliancePolicy` of the templates, e.g. `fips-140-2`. Default: empty. */
  readonly compliancePolicy?: string;
  /** The default is preset Istio. */
  readonly annotationOverrides?: AnnotationOverrides;
  /** Default: Keep. */
  readonly podResources?: PodResourcesMode;
  /** Default: Inject under preset Istio, as Istio does, otherwise Skip. */
  readonly windowsPods?: WindowsPods;
}
