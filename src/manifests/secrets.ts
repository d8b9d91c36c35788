import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ServingPair } from '../certs/verify-chain.ts';
import type { Rotation } from '../certs/rotation/rotation.ts';

/** What a pass of the rotation wants written. Without `serving` the serving Secret stays as it is. */
export interface CertificateMaterial extends Pick<Rotation, 'stored' | 'caBundlePem'> {
  readonly serving?: ServingPair;
}

export interface SecretPlace {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A Secret for the controller alone: keys and how far things are, in one object, so that one write moves all of it. */
export function opaqueSecret(
  name: string,
  stored: CertificateMaterial['stored'],
  place: SecretPlace,
): KubernetesObject {
  return secret(name, 'Opaque', stored, place);
}

/** The Secret that replicas serve: kubernetes.io/tls (core/v1 SecretTypeTLS) with the authority beside the pair. */
export function servingSecret(
  name: string,
  { certificatePem, privateKeyPem, caPem }: ServingPair,
  place: SecretPlace,
): KubernetesObject {
  const texts = { 'ca.crt': caPem, 'tls.crt': certificatePem, 'tls.key': privateKeyPem };
  return secret(name, 'kubernetes.io/tls', texts, place);
}

function secret(
  name: string,
  type: string,
  texts: Readonly<Record<string, string>>,
  { namespace, labels }: SecretPlace,
): KubernetesObject {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)]));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels: { ...labels } }, type, data };
}

/** Kubernetes' form of bytes in JSON. */
export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
