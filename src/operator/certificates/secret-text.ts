import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';

/** The decoded data of a Secret; what is not text stays unreadable and fails whoever parses it. */
export function secretText(secret: KubernetesObject): Record<string, string> {
  const data = (secret.data ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString('utf8')]),
  );
}

/** The pair in a Secret of type kubernetes.io/tls with `ca.crt` beside it. */
export function servingPairOf(secret: KubernetesObject): ServingPair {
  const text = secretText(secret);
  return { certificatePem: text['tls.crt'] ?? '', privateKeyPem: text['tls.key'] ?? '', caPem: text['ca.crt'] ?? '' };
}
