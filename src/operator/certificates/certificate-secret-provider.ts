import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { type CertificateSource, checkGivenPair, type GivenFault } from '../../certs/rotation/given-certificates.ts';
import type { Clock } from '../../kube/ports.ts';
import { calledName } from '../../manifests/certificate-terms.ts';
import type { ConditionReason } from '../reasons.ts';
import type { FollowedObjects } from '../followed-objects.ts';
import { servingPairOf } from './secret-text.ts';

/** What a provider has for a revision now. */
export interface ProvidedCertificates {
  /** For the rotation; absent: it issues itself. */
  readonly source?: CertificateSource;
  /** Why the provider has nothing that could serve, for condition and Event; what is served already goes on being served. */
  readonly refusal?: { readonly reason: ConditionReason; readonly message: string };
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
export const selfSignedProvider: CertificateProvider = { provide: () => Promise.resolve({}), forget: () => undefined };

/**
 * `spec.certificate.provider: Secret`: a Secret of the user's own, followed, and checked as the API server will check what is served from it.
 * @param namespace the operator's own, the only one whose Secrets it may read
 */
export function secretProvider(
  secrets: FollowedObjects,
  namespace: string,
  clock: Pick<Clock, 'now'>,
): CertificateProvider {
  return {
    async provide(config, signal) {
      const user = config.metadata.name;
      const place = { namespace, name: config.spec.certificate.secretRef?.name ?? '' };
      const origin = `Secret ${namespace}/${place.name}`;
      secrets.keepOnly(user, [place]);
      const object = await secrets.read(user, place, signal);
      if (object === undefined)
        return refused('SecretMissing', `${origin} does not exist; create it with ${wantedKeys}`);
      const lacking = lackingKeys(object);
      if (lacking.length > 0)
        return refused('KeyMissing', `${origin} lacks ${lacking.join(', ')}; it needs ${wantedKeys}`);
      const name = calledName(config, namespace);
      const checked = checkGivenPair(servingPairOf(object), origin, { now: clock.now(), names: [name] });
      if ('given' in checked) return { source: checked.given };
      const [{ reason, key, message }] = checked.faults;
      return refused(reason, `${origin}, key ${key}: ${message}; ${adviceFor(name)[reason]}`);
    },
    forget: (injectorConfig) => secrets.keepOnly(injectorConfig, []),
  };
}

const wantedKeys = 'tls.crt (the certificate, then intermediates), tls.key and ca.crt (the authority), all PEM';

function refused(reason: ConditionReason, message: string): ProvidedCertificates {
  return { source: 'Unavailable', refusal: { reason, message: `spec.certificate.secretRef: ${message}` } };
}

function lackingKeys({ data }: KubernetesObject): string[] {
  const have = (data ?? {}) as Record<string, unknown>;
  return ['tls.crt', 'tls.key', 'ca.crt'].filter((key) => typeof have[key] !== 'string' || have[key] === '');
}

/** What to do about each fault. @param name that the certificate must have */
function adviceFor(name: string): Record<GivenFault['reason'], string> {
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
