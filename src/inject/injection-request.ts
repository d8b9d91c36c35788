import type { JsonObject } from './patch/json-value.ts';

/** One pod and those parts of its environment that injection depends on. */
export interface InjectionRequest {
  /** The pod as the API server sends it; injection never changes this object. */
  readonly pod: Readonly<JsonObject>;
  /** The namespace of the request; pods from controllers have no namespace in their metadata. */
  readonly namespace: string;
  /** The namespace, if it is known; its annotations hold user and group ranges on OpenShift. */
  readonly namespaceMetadata?: NamespaceMetadata;
  /** The URL path of the webhook, starting with `/inject`; its pairs set variables of the proxy. */
  readonly path?: string;
  /** The cluster's nodes, for native sidecars in mode Auto; without nodes, Auto means disabled. */
  readonly nodes?: readonly NodeFacts[];
  /** Istio's ProxyConfig resources of the root namespace and of the pod's namespace. */
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

/** The fields of networking.istio.io/v1beta1 ProxyConfig that injection reads. */
export interface ProxyConfigResource {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly creationTimestamp?: string };
  readonly spec: Readonly<JsonObject>;
}
