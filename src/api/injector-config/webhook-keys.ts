/** The label and annotation names of one family of injectors. Within a family no pod is matched twice. */
export interface WebhookKeys {
  /** Namespace label that enables or disables the default revision. */
  readonly injection: string;
  /** Namespace and pod label that names a revision or tag. */
  readonly revision: string;
  /** Pod label (and annotation) with which a pod opts in or out. */
  readonly inject: string;
  /** Annotation in which an injector records what it added. */
  readonly status: string;
}

/** Istio's names, the default family. */
export const istioKeys: WebhookKeys = {
  injection: 'istio-injection',
  revision: 'istio.io/rev',
  inject: 'sidecar.istio.io/inject',
  status: 'sidecar.istio.io/status',
};
