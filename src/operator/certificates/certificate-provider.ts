import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { type CertificateSource, checkGivenPair, type GivenFault } from '../../certs/rotation/given-certificates.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';
import { ApiError, isConflict } from '../../kube/api-error.ts';
import type { ConditionReason } from '../reasons.ts';

/** The reason and message of a condition or Event. */
export interface Statement {
  readonly reason: ConditionReason;
  readonly message: string;
}

/** The answer of a provider for one revision. */
export interface ProvidedCertificates {
  /** The certificates to serve; absent if the rotation issues certificates. */
  readonly source?: CertificateSource;
  /** Why the provider has no valid certificate. The previous certificate is still served. */
  readonly refusal?: Statement;
  /** A pending or overdue renewal of a certificate that is still valid. */
  readonly note?: Statement;
  /** The latest time of the next call; a change of a watched object triggers an earlier call. */
  readonly nextAt?: Date;
}

/**
 * A source of certificates (`spec.certificate.provider`). A provider returns its certificate, if
 * any, and triggers a pass when the certificate changes. The rotation then publishes the change.
 */
export interface CertificateProvider {
  /**
   * Callers treat most errors as a refusal, so that the rest of the pass still runs.
   * @param names the names for the certificate; the API server calls the webhook by the first name
   */
  provide(config: InjectorConfig, names: readonly string[], signal: AbortSignal): Promise<ProvidedCertificates>;
  /** Deletes the objects that the provider created for the InjectorConfig. */
  release?(injectorConfig: string, signal: AbortSignal): Promise<void>;
}

/** The provider `SelfSigned`: the rotation issues certificates from its own authority. */
export const selfSignedProvider: CertificateProvider = { provide: () => Promise.resolve({}) };

/** Returns a provider that always refuses. @param enable advice to grant its permissions */
export function disabledProvider(enable: string): CertificateProvider {
  return {
    provide({ spec }) {
      const message = `spec.certificate.provider: ${spec.certificate.provider} is not enabled in this installation; ${enable}, or choose another provider`;
      return Promise.resolve(refused('ProviderDisabled', message));
    },
  };
}

/** Returns an answer without a valid certificate. */
export function refused(reason: ConditionReason, message: string, nextAt?: Date): ProvidedCertificates {
  return { source: 'Unavailable', refusal: { reason, message }, ...(nextAt && { nextAt }) };
}

/** Reports whether an error is a write conflict or a lost connection, which end the pass. */
export function endsPass(error: unknown): boolean {
  return isConflict(error) || (error instanceof ApiError && error.code === 0);
}

/** How soon a failed provider is asked again, in milliseconds. */
const againMs = 10_000;

/** Returns the refusal for an error from the API server or an error while reading an object. */
export function failed(error: unknown, now: Date): ProvidedCertificates {
  const isOfServer = error instanceof ApiError;
  const reason = isOfServer ? (error.reason.replace(/[^A-Za-z0-9_]/g, '') as ConditionReason) : 'InternalError';
  // Other errors may quote secret data.
  const message = isOfServer ? error.message : 'an object of the provider cannot be read';
  return refused(reason, `spec.certificate: ${message}`, new Date(now.getTime() + againMs));
}

/** Returns the keys that are missing or empty in the data of a Secret. */
export function lackingKeys(data: unknown, keys: readonly string[]): string[] {
  const have = (data ?? {}) as Record<string, unknown>;
  return keys.filter((key) => typeof have[key] !== 'string' || have[key] === '');
}

/** Checks an external pair as the API server does. Returns the pair or its first fault. */
export function provided(
  pair: ServingPair,
  origin: string,
  field: string,
  name: string,
  now: Date,
): ProvidedCertificates {
  const checked = checkGivenPair(pair, origin, { now, names: [name] });
  if ('given' in checked) return { source: checked.given };
  const [{ reason, key, message }] = checked.faults;
  return refused(reason, `${field}: ${origin}, key ${key}: ${message}; ${adviceFor(name)[reason]}`);
}

/** Returns advice for each fault. @param name the name that the certificate must have */
export function adviceFor(name: string): Record<GivenFault['reason'], string> {
  return {
    Unreadable: 'store the certificate in PEM, followed by its intermediates',
    KeyMismatch: 'store the private key of the certificate in tls.crt, in PEM and not encrypted',
    NotYetValid: 'replace it with a certificate that is already valid, or wait until it is valid',
    Expired: 'replace it with a certificate that is still valid',
    Untrusted: 'store the certificate of the authority that issued tls.crt',
    NameMissing: `issue the certificate with the subject alternative name ${name}`,
    WrongUsage: 'issue the certificate for the extended key usage serverAuth',
    Unsupported: 'issue it with a signature and a key that Go accepts: at least SHA-256, and RSA of 2048 bits or ECDSA',
  };
}
