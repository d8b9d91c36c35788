/** Istio's label and annotation names, the default keys of a family. */
export const istioKeys = {
  /** The namespace label that enables or disables the default revision. */
  injection: 'istio-injection',
  /** The namespace and pod label that names a revision or tag. */
  revision: 'istio.io/rev',
  /** The pod label (and annotation) with which a pod opts in or out. */
  inject: 'sidecar.istio.io/inject',
  /** The pod annotation in which an injector records its additions. */
  status: 'sidecar.istio.io/status',
};

export type WebhookKeys = Readonly<typeof istioKeys>;
