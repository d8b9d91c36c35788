import type { AnnotationOverrides } from './annotation-overrides.ts';
import type { WebhookKeys } from './webhook-keys.ts';

/** How native sidecars (init containers with restartPolicy Always) are chosen. Auto decides by the kubelets' versions. */
export type NativeSidecars = 'Auto' | 'Enabled' | 'Disabled';

/** What a revision needs beside Istio's own config, values and mesh; part of the hashed configuration. */
export interface InjectionSettings {
  /** `.Revision` of the templates; also the annotation `istio.io/rev` and the status annotation's `revision`. */
  readonly revision: string;
  /** Left and right delimiter of the templates; `{{ }}` unless the templates are of Istio's 1.x kind (`[[ ]]`). */
  readonly delimiters: readonly [string, string];
  readonly nativeSidecars: NativeSidecars;
  readonly keys: WebhookKeys;
  /** Proxy environment by Istio's path names: `cluster`, `net`, others upper-cased (`/inject/cluster/c1/net/n1`). */
  readonly pathEnvironment: Readonly<Record<string, string>>;
  /** On OpenShift user and group of the proxy come from the namespace's ranges. Kubernetes when absent. */
  readonly platform?: 'Kubernetes' | 'OpenShift';
  /** `.CompliancePolicy` of the templates, e.g. `fips-140-2`; empty when absent. */
  readonly compliancePolicy?: string;
  /** What authors of pods may use; preset Istio when absent. */
  readonly annotationOverrides?: AnnotationOverrides;
}
