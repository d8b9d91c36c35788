import { isIP } from 'node:net';
import { durationMilliseconds } from '../../api/duration.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames, ownSecretName } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ignoreNotFound, isNotFound } from '../../kube/api-error.ts';
import { ObjectApplier, type ObjectApplierOptions } from '../../kube/apply-object.ts';
import { apiVersionOf } from '../../kube/resource-kinds.ts';
import { type ManifestContext, revisionLabels } from '../../manifests/manifest-context.ts';
import { certificates, secrets } from '../cluster-view.ts';
import type { PassContext } from '../controller/pass-context.ts';
import type { FollowedObjects } from '../followed-objects.ts';
import { fieldManager } from '../settings.ts';
import {
  type CertificateProvider,
  lackingKeys,
  provided,
  type ProvidedCertificates,
  refused,
} from './certificate-provider.ts';
import { servingPairOf } from './secret-text.ts';
import { readTrust } from './trusted-authorities.ts';

export interface CertManagerProviderOptions extends Pick<PassContext, 'settings' | 'clock' | 'view'> {
  readonly client: ObjectApplierOptions['client'] & Pick<ApiClient, 'list'>;
  readonly followed: FollowedObjects;
}

/** How soon to retry when cert-manager is not installed, in milliseconds. */
const absentRetryMs = 10_000;
/** How late cert-manager's renewal may be before the condition reports it, in milliseconds. */
const lateMs = 300_000;

/** The fields of a Certificate (cert-manager.io/v1) that we read. */
interface CertificateFacts {
  readonly spec?: { readonly secretName?: string };
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; reason?: string; message?: string }[];
    readonly renewalTime?: string;
  };
}

/**
 * Implements `spec.certificate.provider: CertManager`: reads the Secret of a Certificate that we
 * maintain (`issuerRef`) or the user maintains (`certificateRef`). Does not need cert-manager's
 * cainjector, since the operator itself writes the CA bundle, as it does for every provider.
 */
export function createCertManagerProvider(options: CertManagerProviderOptions): CertificateProvider {
  const { client, followed, settings, clock, view } = options;
  const { namespace } = settings.context;
  const applier = new ObjectApplier({ ...options, fieldManager });

  /** Deletes our Certificate, then its Secret, which cert-manager would otherwise recreate. */
  async function release(injectorConfig: string, signal: AbortSignal): Promise<void> {
    const name = objectNames(injectorConfig).certificate;
    for (const resource of [certificates, secrets]) {
      const how = { namespace, fieldSelector: `metadata.name=${name}`, signal };
      const listed = await client.list(resource, how).catch(ignoreNotFound);
      for (const object of listed?.items ?? []) {
        const isOfCertificate = object.metadata.annotations?.['cert-manager.io/certificate-name'] === name;
        if (resource === secrets ? isOfCertificate : view.isOurs(object))
          await client.delete(object, { signal }).catch(ignoreNotFound);
      }
    }
  }

  const provide: CertificateProvider['provide'] = async (config, names, signal) => {
    const { metadata, spec } = config;
    const trusted = await readTrust(config, followed, namespace, signal);
    if (trusted !== undefined && 'refusal' in trusted) return trusted.refusal;
    const own = objectNames(metadata.name).certificate;
    const { certificateRef } = spec.certificate;
    const name = certificateRef?.name ?? own;
    const field = `spec.certificate.${certificateRef === undefined ? 'issuerRef' : 'certificateRef'}`;
    const object = await certificate(config, names, name, signal).catch(ignoreAbsence);
    if (object === 'Absent') {
      const message = `${field}: cert-manager is not installed: the API server does not serve Certificate of ${apiVersionOf(certificates)}; install cert-manager, or choose another provider`;
      return refused('CertManagerMissing', message, new Date(clock.now().getTime() + absentRetryMs));
    }
    const what = `Certificate ${namespace}/${name}`;
    if (object === undefined)
      return refused('CertificateMissing', `${field}: ${what} does not exist; create it in namespace ${namespace}`);
    const facts = object as CertificateFacts;
    const { secretName = '' } = facts.spec ?? {};
    if (certificateRef !== undefined && [name, secretName].some((each) => ownSecretName.test(each))) {
      const message = `${field}: ${what} writes Secret ${secretName}, but the operator uses one of these names; choose another`;
      return refused('Invalid', message);
    }
    const secret = await followed.read(metadata.name, secrets, { namespace, name: secretName }, signal);
    const lacking = lackingKeys(secret?.data, ['tls.crt', 'tls.key']);
    if (secret === undefined || lacking.length > 0)
      return refused('CertificatePending', `${field}: ${what} is not issued yet: ${progressOf(facts)}`);
    const pair = servingPairOf(secret);
    const caPem = trusted?.pem ?? pair.caPem;
    const origin = `Secret ${namespace}/${secretName}`;
    if (caPem === '') {
      const message = `${field}: ${origin} lacks ca.crt, since the issuer does not publish its authority; name it with spec.certificate.caBundleFrom or caBundle`;
      return refused('KeyMissing', message);
    }
    const [calledName = ''] = names;
    const found = provided({ ...pair, caPem }, origin, field, calledName, clock.now());
    if (found.refusal !== undefined) return found;
    return { ...found, ...renewal(what, facts) };
  };

  /** Applies our Certificate or reads the user's. @throws ApiError 404 if the kind is not served */
  async function certificate(
    config: InjectorConfig,
    names: readonly string[],
    name: string,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    const place = { namespace, name };
    const live = await followed.read(config.metadata.name, certificates, place, signal);
    if (config.spec.certificate.issuerRef === undefined) return live;
    const desired = ownCertificate(config, names, settings.context);
    return (await applier.apply(desired, live, signal, live !== undefined)).object;
  }

  /** Reports a renewal that is later than status.renewalTime, and when to check again. */
  function renewal(what: string, facts: CertificateFacts): Pick<ProvidedCertificates, 'note' | 'nextAt'> {
    const { renewalTime } = facts.status ?? {};
    if (renewalTime === undefined) return {};
    const late = new Date(Date.parse(renewalTime) + lateMs / (settings.testCertificateTimeScale ?? 1));
    if (late > clock.now()) return { nextAt: late };
    const message = `cert-manager should have renewed ${what} at ${renewalTime}: ${progressOf(facts)}`;
    return { note: { reason: 'RenewalDue', message } };
  }

  return { provide, release };
}

/** Returns 'Absent' for a 404, which means that the kind is not served. Rethrows other errors. */
function ignoreAbsence(error: unknown): 'Absent' {
  if (!isNotFound(error)) throw error;
  return 'Absent';
}

/** Returns the conditions of a Certificate, with cert-manager's messages. */
function progressOf({ status }: CertificateFacts): string {
  const { conditions = [] } = status ?? {};
  if (conditions.length === 0)
    return "it has no status, so cert-manager's controller has not processed it; check that it runs";
  const texts = conditions.map(({ type, status, reason = '', message = '' }) => {
    return `${type} is ${status}${reason === '' ? '' : ` (${reason})`}${message === '' ? '' : `: ${message}`}`;
  });
  return texts.join('; ');
}

function ownCertificate(
  config: InjectorConfig,
  names: readonly string[],
  { namespace }: ManifestContext,
): KubernetesObject {
  const { issuerRef, leafDuration, renewalFraction, keySize } = config.spec.certificate;
  const name = objectNames(config.metadata.name).certificate;
  const isAddress = (each: string): boolean => isIP(each) !== 0;
  const addresses = names.filter(isAddress);
  const seconds = Math.round((durationMilliseconds(leafDuration) / 1000) * (1 - renewalFraction));
  return {
    apiVersion: apiVersionOf(certificates),
    kind: certificates.kind,
    metadata: { name, namespace, labels: revisionLabels(config) },
    spec: {
      secretName: name,
      dnsNames: names.filter((each) => !isAddress(each)),
      ...(addresses.length > 0 && { ipAddresses: addresses }),
      duration: leafDuration,
      // cert-manager requires at least 300 s.
      renewBefore: `${Math.max(300, seconds)}s`,
      privateKey: { algorithm: 'RSA', size: keySize, rotationPolicy: 'Always' },
      usages: ['digital signature', 'key encipherment', 'server auth'],
      issuerRef: { ...issuerRef },
    },
  };
}
