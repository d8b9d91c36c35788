import { durationMilliseconds } from '../api/duration.ts';
import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import { objectNames, serviceHostName, validatorNames } from '../api/names.ts';
import type { CertificateNames } from '../certs/certificate-names.ts';
import type { CertificatePolicy } from '../certs/certificate-policy.ts';
import { nameOf } from '../selection/pod-claims.ts';

/**
 * The names and addresses that the serving certificate of an InjectorConfig must carry: its Service's, and the hosts by which it is called.
 * @param name metadata.name of the InjectorConfig
 */
export function certificateNames(name: string, namespace: string, hosts: readonly string[]): CertificateNames {
  const { service } = objectNames(name);
  return { service, namespace, ...(hosts.length === 0 ? {} : { hosts }) };
}

/** The one name by which the API server calls the webhook, and which a certificate of the user's own must carry at least. */
export function calledName(config: InjectorConfig, namespace: string): string {
  return webhookHost(config) ?? serviceHostName(objectNames(config.metadata.name).service, namespace);
}

/**
 * The names for which a certificate is asked of somebody else, the one by which the webhook is called first: fewer than we give our own, since a signer
 * or issuer may allow but some. The Service's is there in any case, so that `spec.webhook.url` may come and go.
 * @param hosts as for {@link certificateNames}
 */
export function requestedNames(config: InjectorConfig, namespace: string, hosts: readonly string[]): string[] {
  const { service } = objectNames(config.metadata.name);
  const named = [calledName(config, namespace), serviceHostName(service, namespace), ...hosts];
  // Only a URL puts IPv6 addresses into brackets.
  return [...new Set(named.map((name) => name.replace(/^\[(.*)\]$/, '$1')))];
}

/** The names that the validating webhook's certificate must carry. */
export function validatorCertificateNames(operatorClass: string, namespace: string): CertificateNames {
  return { service: validatorNames(operatorClass).service, namespace };
}

/**
 * `spec.certificate` in the terms of the rotation.
 * @param timeScale what every duration is divided by: 1, but in tests, which cannot wait for days.
 */
export function certificatePolicy({ spec: { certificate } }: InjectorConfig, timeScale = 1): CertificatePolicy {
  const { leafDuration, caDuration, confirmationPeriod, renewalFraction, keySize } = certificate;
  const scaled = (duration: string): number => Math.round(durationMilliseconds(duration) / timeScale);
  return {
    leafDuration: scaled(leafDuration),
    caDuration: scaled(caDuration),
    confirmationPeriod: scaled(confirmationPeriod),
    renewalFraction,
    keySize,
  };
}

/** The host of `spec.webhook.url`; undefined where the Service is called. */
export function webhookHost({ spec: { webhook } }: InjectorConfig): string | undefined {
  return hostOfUrl(webhook.url);
}

/** The host of a url; undefined without one, and where nobody can read it. */
export function hostOfUrl(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Whether one certificate answers for both: they take it from the same Secret, or from the same Certificate of cert-manager. */
export function haveOneCertificate(one: InjectorConfig, other: InjectorConfig): boolean {
  const isShared = (field: 'secretRef' | 'certificateRef'): boolean => {
    const name = one.spec.certificate[field]?.name;
    return name !== undefined && name === other.spec.certificate[field]?.name;
  };
  return isShared('secretRef') || isShared('certificateRef');
}

/** Why an InjectorConfig cannot have the host of its url: another one has it. One line, with the field and what to do. */
export function hostTaken(host: string, holder: InjectorConfig): string {
  const other = nameOf({ kind: 'InjectorConfig', name: holder.metadata.name });
  return `spec.webhook.url: ${other} has the host ${host} too, with a certificate of another authority, and only one can be served for it; give this one a host of its own, or let both use the same Secret (spec.certificate.provider Secret)`;
}
