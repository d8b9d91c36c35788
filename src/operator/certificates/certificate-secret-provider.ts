import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { type CertificateSource, checkGivenPair, type GivenFault } from '../../certs/rotation/given-certificates.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Clock } from '../../kube/ports.ts';
import { calledName } from '../../manifests/certificate-terms.ts';
import { secrets } from '../cluster-view.ts';
import { servingPairOf } from './secret-text.ts';

/** Starts a reflector for one Secret. */
export type FollowSecret = (options: {
  namespace: string;
  name: string;
  store: ObjectStore;
  signal: AbortSignal;
}) => void;

export interface CertificateSecretProviderOptions {
  readonly client: Pick<ApiClient, 'find'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The operator's own namespace, the only one whose Secrets it may read. */
  readonly namespace: string;
  readonly follow: FollowSecret;
  readonly onChange: (injectorConfig: string) => void;
}

interface Followed {
  readonly secret: string;
  readonly store: ObjectStore;
  readonly stop: AbortController;
}

/** `spec.certificate.provider: Secret`: a Secret of the user's own, followed, and checked as the API server will check what is served from it. */
export class CertificateSecretProvider implements CertificateProvider {
  readonly #options: CertificateSecretProviderOptions;
  /** By InjectorConfig. */
  readonly #followed = new Map<string, Followed>();

  constructor(options: CertificateSecretProviderOptions) {
    this.#options = options;
  }

  async provide(config: InjectorConfig, signal: AbortSignal): Promise<ProvidedCertificates> {
    const { namespace, client, clock } = this.#options;
    const secret = config.spec.certificate.secretRef?.name ?? '';
    const { store } = this.#follow(config.metadata.name, secret);
    // The watch may still be on its way: ask, so that an absent Secret shows as what it is.
    const object = store.hasSynced
      ? store.get(secret, namespace)
      : await client.find(secrets, secret, { namespace, signal });
    const origin = `Secret ${namespace}/${secret}`;
    if (object === undefined) return refused('SecretMissing', `${origin} does not exist; create it with ${wantedKeys}`);
    const lacking = lackingKeys(object);
    if (lacking.length > 0)
      return refused('KeyMissing', `${origin} lacks ${lacking.join(', ')}; it needs ${wantedKeys}`);
    const name = calledName(config, namespace);
    const checked = checkGivenPair(servingPairOf(object), origin, { now: clock.now(), names: [name] });
    if ('given' in checked) return { source: checked.given };
    const [{ reason, key, message }] = checked.faults;
    return refused(reason, `${origin}, key ${key}: ${message}; ${advice(reason, name)}`);
  }

  forget(injectorConfig: string): void {
    this.#followed.get(injectorConfig)?.stop.abort();
    this.#followed.delete(injectorConfig);
  }

  #follow(user: string, secret: string): Followed {
    const known = this.#followed.get(user);
    if (known?.secret === secret) return known;
    this.forget(user);
    const { namespace, follow, onChange } = this.#options;
    const followed = { secret, store: new ObjectStore(), stop: new AbortController() };
    followed.store.subscribe(() => {
      onChange(user);
    });
    this.#followed.set(user, followed);
    follow({ namespace, name: secret, store: followed.store, signal: followed.stop.signal });
    return followed;
  }
}

const wantedKeys = 'tls.crt (the certificate, then intermediates), tls.key and ca.crt (the authority), all PEM';

function refused(reason: string, message: string): ProvidedCertificates {
  return { source: 'Unavailable', refusal: { reason, message: `spec.certificate.secretRef: ${message}` } };
}

function lackingKeys({ data }: KubernetesObject): string[] {
  const have = (data ?? {}) as Record<string, unknown>;
  return ['tls.crt', 'tls.key', 'ca.crt'].filter((key) => typeof have[key] !== 'string' || have[key] === '');
}

/** What to do about each fault. */
function advice(reason: GivenFault['reason'], name: string): string {
  switch (reason) {
    case 'Unreadable':
      return 'put the certificate there in PEM, then its intermediates';
    case 'KeyMismatch':
      return 'put the private key of the certificate in tls.crt there, in PEM and not encrypted';
    case 'NotYetValid':
      return 'replace it by one that is valid now, or wait until it is';
    case 'Expired':
      return 'replace it by one that is valid now';
    case 'Untrusted':
      return 'put the certificate of the authority there that issued tls.crt';
    case 'NameMissing':
      return `have it issued with the subject alternative name ${name}`;
    case 'WrongUsage':
      return 'have it issued for the extended key usage serverAuth';
    case 'Unsupported':
      return 'have it issued with a signature and a key that Go accepts: SHA-256 at least, RSA of 2048 bits or ECDSA';
  }
}

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
