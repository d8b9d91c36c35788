import type { JsonObject } from './patch/json-value.ts';

/** What a template and the decision need to know of one pod's surroundings; everything comes from the caller's memory. */
export interface InjectionRequest {
  /** The pod as the API server sends it. Never changed. */
  readonly pod: Readonly<JsonObject>;
  /** The request's namespace: pods made by controllers carry none of their own. */
  readonly namespace: string;
  /** The namespace's annotations, where known (user and group ranges on OpenShift). */
  readonly namespaceMetadata?: NamespaceMetadata;
  /** The URL path of the webhook, from `/inject` on; its pairs become proxy environment. */
  readonly path?: string;
  /** The cluster's nodes, for native sidecars in mode Auto; without nodes Auto means no. */
  readonly nodes?: readonly NodeFacts[];
  /** Istio's ProxyConfig resources of the root namespace and of the pod's. */
  readonly proxyConfigs?: readonly ProxyConfigResource[];
}

export interface NamespaceMetadata {
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface NodeFacts {
  readonly name: string;
  /** `status.nodeInfo.kubeletVersion`, e.g. `v1.33.1`. */
  readonly kubeletVersion: string;
}

/** networking.istio.io/v1beta1 ProxyConfig, as far as injection reads it. */
export interface ProxyConfigResource {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly creationTimestamp?: string };
  readonly spec: Readonly<JsonObject>;
}
