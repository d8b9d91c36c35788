import { durationMilliseconds } from '../api/duration.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import { objectNames, serviceHostName, validatorNames } from '../api/names.ts';
import type { CertificateNames } from '../certs/certificate-names.ts';
import type { CertificatePolicy } from '../certs/certificate-policy.ts';
import { webhookHost } from './webhook-host.ts';

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
