import { stringify } from 'yaml';
import type { CreatedCertificates } from './create-certificates.ts';

/** A Secret of type kubernetes.io/tls (core/v1 SecretTypeTLS) with the authority beside the pair, as YAML. */
export function tlsSecretYaml(name: string, namespace: string, created: CreatedCertificates): string {
  const keys = ['ca.crt', 'tls.crt', 'tls.key'] as const;
  const data = Object.fromEntries(keys.map((key) => [key, Buffer.from(created[key]).toString('base64')]));
  return stringify(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'kubernetes.io/tls', data },
    { lineWidth: 0 },
  );
}
