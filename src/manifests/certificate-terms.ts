import { durationMilliseconds } from '../api/duration.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import { objectNames, validatorNames } from '../api/names.ts';
import type { CertificateNames } from '../certs/certificate-names.ts';
import { defaultCertificatePolicy, type CertificatePolicy } from '../certs/certificate-policy.ts';

/** The names and addresses that the serving certificate of an InjectorConfig must carry: its Service's, and the host of `spec.webhook.url`. */
export function certificateNames(config: InjectorConfig, namespace: string): CertificateNames {
  const { service } = objectNames(config.metadata.name);
  const { url } = config.spec.webhook;
  return { service, namespace, ...(url === undefined ? {} : { hosts: [new URL(url).hostname] }) };
}

/** The names that the validating webhook's certificate must carry. */
export function validatorCertificateNames(operatorClass: string, namespace: string): CertificateNames {
  return { service: validatorNames(operatorClass).service, namespace };
}

/** `spec.certificate` in the terms of the rotation. */
export function certificatePolicy({ spec: { certificate } }: InjectorConfig): CertificatePolicy {
  const { leafDuration, caDuration, renewalFraction, keySize } = certificate;
  return {
    ...defaultCertificatePolicy,
    leafDuration: durationMilliseconds(leafDuration),
    caDuration: durationMilliseconds(caDuration),
    renewalFraction,
    keySize,
  };
}
