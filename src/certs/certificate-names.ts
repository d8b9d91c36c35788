import { isIP } from 'node:net';
import { CertificatePolicyError } from './certificate-policy.ts';

/** The names by which the API server may call the webhook. */
export interface CertificateNames {
  /** The Service's name; also the subject's common name. */
  readonly service: string;
  readonly namespace: string;
  /** Further DNS names or IP addresses (IPv6 may have brackets), e.g. `clientConfig.url` hosts. */
  readonly hosts?: readonly string[];
}

const label = /^[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?$/;

/**
 * Returns the subject alternative names of a serving certificate. The API server checks (and sends
 * as SNI) `<service>.<namespace>.svc` for a webhook behind a Service, and the URL's host for a
 * webhook with a URL. The remaining names are for people and probes.
 * @throws CertificatePolicyError for a host that is neither a DNS name nor an IP address
 */
export function subjectAltNames(names: CertificateNames): { readonly dns: string[]; readonly ip: string[] } {
  const base = `${names.service}.${names.namespace}`;
  const dns = new Set([`${base}.svc`, `${base}.svc.cluster.local`, base]);
  const ip = new Set<string>();
  for (const [index, value] of (names.hosts ?? []).entries()) {
    const host = value.replace(/^\[(.*)\]$/, '$1').toLowerCase();
    if (isIP(host) !== 0) {
      ip.add(host);
    } else if (isDnsName(host)) {
      dns.add(host);
    } else {
      const message = `host ${JSON.stringify(value)} is neither a DNS name nor an IP address: write only the host, without scheme, port or path`;
      throw new CertificatePolicyError(`hosts[${index}]`, message);
    }
  }
  for (const name of dns) {
    if (!isDnsName(name)) throw new CertificatePolicyError('service', `${JSON.stringify(name)} is not a DNS name`);
  }
  return { dns: [...dns], ip: [...ip] };
}

function isDnsName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((part) => label.test(part));
}
