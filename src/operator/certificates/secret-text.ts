import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';

/** Returns the data of a Secret decoded as UTF-8. Callers must expect values that are not text. */
export function secretText(secret: KubernetesObject): Record<string, string> {
  const data = (secret.data ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString('utf8')]),
  );
}

/** Returns the pair in a Secret of type kubernetes.io/tls that also has `ca.crt`. */
export function servingPairOf(secret: KubernetesObject): ServingPair {
  const text = secretText(secret);
  return { certificatePem: text['tls.crt'] ?? '', privateKeyPem: text['tls.key'] ?? '', caPem: text['ca.crt'] ?? '' };
}
