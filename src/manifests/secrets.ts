import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ServingPair } from '../certs/verify-chain.ts';
import type { Rotation } from '../certs/rotation/rotation.ts';

/** The data that a rotation pass writes. Without `serving`, the serving Secret does not change. */
export interface CertificateMaterial extends Pick<Rotation, 'stored' | 'caBundlePem'> {
  readonly serving?: ServingPair;
}

export interface SecretMetadata {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the controller's Secret with keys and rotation state, which change atomically. */
export function opaqueSecret(
  name: string,
  stored: CertificateMaterial['stored'],
  metadata: SecretMetadata,
): KubernetesObject {
  return secret(name, 'Opaque', stored, metadata);
}

/** Returns the kubernetes.io/tls Secret that replicas serve, with the authority in ca.crt. */
export function servingSecret(
  name: string,
  { certificatePem, privateKeyPem, caPem }: ServingPair,
  metadata: SecretMetadata,
): KubernetesObject {
  const texts = { 'ca.crt': caPem, 'tls.crt': certificatePem, 'tls.key': privateKeyPem };
  return secret(name, 'kubernetes.io/tls', texts, metadata);
}

function secret(
  name: string,
  type: string,
  texts: Readonly<Record<string, string>>,
  { namespace, labels }: SecretMetadata,
): KubernetesObject {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)]));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels: { ...labels } }, type, data };
}

export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
