/** The label and annotation names of one family of injectors, which are Istio's unless told. Within a family no pod is matched twice. */
export const istioKeys = {
  /** Namespace label that enables or disables the default revision. */
  injection: 'istio-injection',
  /** Namespace and pod label that names a revision or tag. */
  revision: 'istio.io/rev',
  /** Pod label (and annotation) with which a pod opts in or out. */
  inject: 'sidecar.istio.io/inject',
  /** Annotation in which an injector records what it added. */
  status: 'sidecar.istio.io/status',
};

export type WebhookKeys = Readonly<typeof istioKeys>;
