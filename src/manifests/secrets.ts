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

/** The Secret of the rotation: keys of the authority and the phases, in one object, so that one write moves all of it. */
export function authoritySecret(
  name: string,
  stored: CertificateMaterial['stored'],
  { namespace, labels }: SecretPlace,
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: { ...labels } },
    type: 'Opaque',
    data: encode(stored),
  };
}

/** The Secret that replicas serve: kubernetes.io/tls (core/v1 SecretTypeTLS) with the authority beside the pair. */
export function servingSecret(
  name: string,
  { certificatePem, privateKeyPem, caPem }: ServingPair,
  { namespace, labels }: SecretPlace,
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: { ...labels } },
    type: 'kubernetes.io/tls',
    data: encode({ 'ca.crt': caPem, 'tls.crt': certificatePem, 'tls.key': privateKeyPem }),
  };
}

function encode(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)]));
}

/** Kubernetes' form of bytes in JSON. */
export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
