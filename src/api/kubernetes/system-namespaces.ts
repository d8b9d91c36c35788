/** Namespaces that are never injected. Istio exempts `local-path-storage` for kind clusters. */
export const systemNamespaces: readonly string[] = [
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'local-path-storage',
];

/** The label with the name of the namespace; the API server sets it on every namespace. */
export const namespaceNameLabel = 'kubernetes.io/metadata.name';
