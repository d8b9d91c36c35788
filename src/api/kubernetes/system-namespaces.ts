/** Namespaces whose pods keep a cluster alive: never injected, whatever their labels say. The fourth is Istio's exception for kind clusters. */
export const systemNamespaces: readonly string[] = [
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'local-path-storage',
];

/** The label that every namespace carries with its own name (set by the API server). */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';
