import { durationMilliseconds } from '../api/duration.ts';
import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import { objectNames, serviceHostName, validatorNames } from '../api/names.ts';
import type { CertificateNames } from '../certs/certificate-names.ts';
import type { CertificatePolicy } from '../certs/certificate-policy.ts';
import { nameOf } from '../selection/pod-claims.ts';

/**
 * Returns the names that an InjectorConfig's serving certificate must contain.
 * @param name metadata.name of the InjectorConfig
 * @param hosts the hosts of the URLs at which the API server calls the webhooks
 */
export function certificateNames(name: string, namespace: string, hosts: readonly string[]): CertificateNames {
  const { service } = objectNames(name);
  return { service, namespace, ...(hosts.length === 0 ? {} : { hosts }) };
}

/** Returns the host at which the API server calls the webhook. All certificates must contain it. */
export function calledName(config: InjectorConfig, namespace: string): string {
  return webhookHost(config) ?? serviceHostName(objectNames(config.metadata.name).service, namespace);
}

/**
 * Returns the names to request from a signer or issuer, {@link calledName} first. A self-signed
 * certificate has more names, but an issuer may restrict names. The Service's name is
 * always included, so that a change of `spec.webhook.url` needs no new certificate.
 * @param hosts as for {@link certificateNames}
 */
export function requestedNames(config: InjectorConfig, namespace: string, hosts: readonly string[]): string[] {
  const { service } = objectNames(config.metadata.name);
  const named = [calledName(config, namespace), serviceHostName(service, namespace), ...hosts];
  // IPv6 addresses have brackets in URLs, but not in certificates.
  return [...new Set(named.map((name) => name.replace(/^\[(.*)\]$/, '$1')))];
}

/** Returns the names that the validating webhook's certificate must contain. */
export function validatorCertificateNames(operatorClass: string, namespace: string): CertificateNames {
  return { service: validatorNames(operatorClass).service, namespace };
}

/** Converts `spec.certificate`. @param timeScale divisor of all durations, for tests */
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

/** Returns the host of `spec.webhook.url`; undefined if the API server calls the Service. */
export function webhookHost({ spec: { webhook } }: InjectorConfig): string | undefined {
  return hostOfUrl(webhook.url);
}

/** Returns the host of a URL; undefined if the URL is missing or invalid. */
export function hostOfUrl(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Reports whether two InjectorConfigs use the same Secret, or the same Certificate. */
export function haveOneCertificate(one: InjectorConfig, other: InjectorConfig): boolean {
  const isShared = (field: 'secretRef' | 'certificateRef'): boolean => {
    const name = one.spec.certificate[field]?.name;
    return name !== undefined && name === other.spec.certificate[field]?.name;
  };
  return isShared('secretRef') || isShared('certificateRef');
}

/** Returns the message for an InjectorConfig whose url has the host of another InjectorConfig. */
export function hostTaken(host: string, holder: InjectorConfig): string {
  const other = nameOf({ kind: 'InjectorConfig', name: holder.metadata.name });
  return `spec.webhook.url: ${other} has the host ${host} too, with a certificate of another authority, and replicas can serve only one certificate per host; use another host here, or use the same Secret in both InjectorConfigs (spec.certificate.provider Secret)`;
}
