import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { type CertificateSource, checkGivenPair, type GivenFault } from '../../certs/rotation/given-certificates.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';
import { ApiError, isConflict } from '../../kube/api-error.ts';
import type { ConditionReason } from '../reasons.ts';

/** One word and a sentence, for condition and Event. */
export interface Statement {
  readonly reason: ConditionReason;
  readonly message: string;
}

/** What a provider has for a revision now. */
export interface ProvidedCertificates {
  /** For the rotation; absent: it issues itself. */
  readonly source?: CertificateSource;
  /** Why the provider has nothing that could serve; what is served already goes on being served. */
  readonly refusal?: Statement;
  /** What is under way or overdue while what there is can serve. */
  readonly note?: Statement;
  /** When to ask again at the latest, beside when something that is followed changes. */
  readonly nextAt?: Date;
}

/**
 * Where the certificates of revisions come from (`spec.certificate.provider`). It says what it has now, or that it has nothing yet, and calls for a
 * new pass when that changes; publishing, confirming, swapping, retiring and repairing are the rotation's, for every provider alike.
 */
export interface CertificateProvider {
  /**
   * What it throws is a refusal too: it must not keep the rest of a pass from its work.
   * @param names that the certificate should have, the one by which the webhook is called first
   */
  provide(config: InjectorConfig, names: readonly string[], signal: AbortSignal): Promise<ProvidedCertificates>;
  /** The InjectorConfig is gone, or has another provider: what is followed for it need not be any more. */
  forget(injectorConfig: string): void;
  /** Nothing needs what it has made for the InjectorConfig any more: takes that away. */
  release(injectorConfig: string, signal: AbortSignal): Promise<void>;
}

const idle = { forget: () => undefined, release: () => Promise.resolve() };

/** The embedded authority of a revision. */
export const selfSignedProvider: CertificateProvider = { provide: () => Promise.resolve({}), ...idle };

/** One for which this installation has no rights. @param enable how to give them */
export function disabledProvider(enable: string): CertificateProvider {
  const provide: CertificateProvider['provide'] = ({ spec }) => {
    const message = `spec.certificate.provider: ${spec.certificate.provider} is not enabled in this installation; ${enable}, or choose another provider`;
    return Promise.resolve(refused('ProviderDisabled', message));
  };
  return { provide, ...idle };
}

/** Nothing that could serve. */
export function refused(reason: ConditionReason, message: string, nextAt?: Date): ProvidedCertificates {
  return { source: 'Unavailable', refusal: { reason, message }, ...(nextAt && { nextAt }) };
}

/** Whether nothing else of a pass would succeed either: another leader writes, or there is no API server. */
export function endsPass(error: unknown): boolean {
  return isConflict(error) || (error instanceof ApiError && error.code === 0);
}

/** How soon what the API server has refused is tried again. Milliseconds. */
const againMs = 10_000;

/** A provider that cannot say what it has: the API server has refused it something, or it has met what it cannot read. It is asked again soon. */
export function failed(error: unknown, now: Date): ProvidedCertificates {
  const isOfServer = error instanceof ApiError;
  const reason = isOfServer ? (error.reason.replace(/[^A-Za-z0-9_]/g, '') as ConditionReason) : 'InternalError';
  // What others throw may quote what they have read.
  const message = isOfServer ? error.message : 'what was found there cannot be read';
  return refused(reason, `spec.certificate: ${message}`, new Date(now.getTime() + againMs));
}

/** Which of the keys of a Secret lack a text. */
export function lackingKeys(data: unknown, keys: readonly string[]): string[] {
  const have = (data ?? {}) as Record<string, unknown>;
  return keys.filter((key) => typeof have[key] !== 'string' || have[key] === '');
}

/** A pair of somebody else, checked as the API server will check what is served from it. */
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

/** What to do about each fault. @param name that the certificate must have */
export function adviceFor(name: string): Record<GivenFault['reason'], string> {
  return {
    Unreadable: 'put the certificate there in PEM, then its intermediates',
    KeyMismatch: 'put the private key of the certificate in tls.crt there, in PEM and not encrypted',
    NotYetValid: 'replace it by one that is valid now, or wait until it is',
    Expired: 'replace it by one that is valid now',
    Untrusted: 'put the certificate of the authority there that issued tls.crt',
    NameMissing: `have it issued with the subject alternative name ${name}`,
    WrongUsage: 'have it issued for the extended key usage serverAuth',
    Unsupported:
      'have it issued with a signature and a key that Go accepts: SHA-256 at least, RSA of 2048 bits or ECDSA',
  };
}
