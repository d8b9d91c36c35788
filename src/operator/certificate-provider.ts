import type { InjectorConfig } from '../api/injector-config.ts';
import type { CertificateSource } from '../certs/given-certificates.ts';

/** What a provider has for a revision now. */
export interface ProvidedCertificates {
  /** For the rotation; absent: it issues itself. */
  readonly source?: CertificateSource;
  /** Why the provider has nothing that could serve, for condition and Event; what is served already goes on being served. */
  readonly refusal?: { readonly reason: string; readonly message: string };
}

/**
 * Where the certificates of revisions come from (`spec.certificate.provider`). It says what it has now, or that it has nothing yet, and calls for a
 * new pass when that changes; publishing, confirming, swapping, retiring and repairing are the rotation's, for every provider alike.
 */
export interface CertificateProvider {
  provide(config: InjectorConfig, signal: AbortSignal): Promise<ProvidedCertificates>;
  /** The InjectorConfig is gone, or has another provider: what is followed for it need not be any more. */
  forget(injectorConfig: string): void;
}

/** The embedded authority of a revision. */
export const selfSignedProvider: CertificateProvider = {
  provide: () => Promise.resolve({}),
  forget: () => undefined,
};
