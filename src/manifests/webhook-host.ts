import type { InjectorConfig } from '../api/injector-config.ts';
import { nameOf } from './claims.ts';

/** The host of `spec.webhook.url`; undefined where the Service is called. */
export function webhookHost({ spec: { webhook } }: InjectorConfig): string | undefined {
  return hostOfUrl(webhook.url);
}

/** The host of a url; undefined without one, and where nobody can read it. */
export function hostOfUrl(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Whether one certificate answers for both: they take it from the same Secret. */
export function haveOneCertificate(one: InjectorConfig, other: InjectorConfig): boolean {
  const secret = one.spec.certificate.secretRef?.name;
  return secret !== undefined && secret === other.spec.certificate.secretRef?.name;
}

/** Why an InjectorConfig cannot have the host of its url: another one has it. One line, with the field and what to do. */
export function hostTaken(host: string, holder: InjectorConfig): string {
  const other = nameOf({ kind: 'InjectorConfig', name: holder.metadata.name });
  return `spec.webhook.url: ${other} has the host ${host} too, with a certificate of another authority, and only one can be served for it; give this one a host of its own, or let both use the same Secret (spec.certificate.provider Secret)`;
}
