import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { CertificateNames } from '../../certs/certificate-names.ts';
import type { CertificatePolicy } from '../../certs/certificate-policy.ts';
import type { CertificateSource } from '../../certs/rotation/given-certificates.ts';
import type { GenerateKeyPair } from '../../certs/key-pair.ts';
import type { RandomBytes } from '../../certs/random-source.ts';
import type { RenewalRequest } from '../../certs/rotation/rotation-request.ts';
import { rotate, type Rotation } from '../../certs/rotation/rotation.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { Clock } from '../../kube/ports.ts';
import { secrets, type ClusterView } from '../cluster-view.ts';
import type { OwnedObjects, WriteOutcome } from '../controller/owned-objects.ts';
import { caBundlesOf } from '../webhooks/published-webhook.ts';
import { secretText, servingPairOf } from './secret-text.ts';
import { fieldManager } from '../settings.ts';

/** Whose certificates: the two Secrets, and what is to be in them. */
export interface CertificateSubject {
  readonly namespace: string;
  /** The Secret that holds the rotation's own data. */
  readonly rotationSecret: (stored: Rotation['stored']) => KubernetesObject;
  /** Name of the Secret that replicas serve. */
  readonly servingSecret: string;
  readonly policy: CertificatePolicy;
  readonly names: CertificateNames;
  /** The webhook configurations whose clients must trust what is served. */
  readonly webhooks: readonly (KubernetesObject | undefined)[];
  /** Absent: the rotation issues what it needs. */
  readonly source?: CertificateSource;
  /** The renewal that a person asks for. */
  readonly request?: RenewalRequest;
}

export interface CertificateKeeperOptions {
  readonly client: Pick<ApiClient, 'find' | 'create'>;
  readonly owned: OwnedObjects;
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly generateKeyPair: GenerateKeyPair;
}

/** One pass of a rotation, from the Secrets and webhooks that are there; its own data is written here, whatever else it wants by the caller. */
export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions;

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  /**
   * Writes the rotation's data first, only onto the version that was read: of two leaders one gets a Conflict and looks again. The serving
   * Secret and, last, the caBundle are the caller's to write.
   * @throws CertificatePolicyError for terms that cannot work; nothing has been written then
   */
  async advance(subject: CertificateSubject, into: WriteOutcome, signal: AbortSignal): Promise<Rotation> {
    const { owned, clock, random, generateKeyPair } = this.#options;
    const stored = await this.#secret(nameOf(subject), subject.namespace, signal);
    const serving = await this.#secret(subject.servingSecret, subject.namespace, signal);
    const rotation = await rotate({
      stored: stored && secretText(stored),
      serving: serving && servingPairOf(serving),
      bundles: subject.webhooks.flatMap(caBundlesOf),
      policy: subject.policy,
      names: subject.names,
      now: clock.now(),
      random,
      generateKeyPair,
      ...(subject.source && { source: subject.source }),
      ...(subject.request && { request: subject.request }),
    });
    const desired = subject.rotationSecret(rotation.stored);
    if (stored === undefined) await this.#create(desired, signal);
    else await owned.apply(atVersion(desired, stored), into, signal);
    return rotation;
  }

  /** From the view; a Secret that is not in it may only have lost its labels, and keys must not be made anew for that. */
  async #secret(name: string, namespace: string, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const { client, view } = this.#options;
    const seen = view.secrets.get(name, namespace);
    if (seen !== undefined) return seen;
    const found = await client.find(secrets, name, { namespace, signal });
    if (found !== undefined) view.secrets.upsert(found);
    return found;
  }

  /** Of two leaders that both find nothing, one gets a Conflict (AlreadyExists) and looks again. */
  async #create(desired: KubernetesObject, signal: AbortSignal): Promise<void> {
    const { client, view } = this.#options;
    view.secrets.upsert(await client.create(desired, { fieldManager, signal }));
  }
}

function nameOf({ rotationSecret }: CertificateSubject): string {
  return rotationSecret({}).metadata.name ?? '';
}

/** Written only onto the version that was read. */
function atVersion(desired: KubernetesObject, read: KubernetesObject): KubernetesObject {
  const { resourceVersion } = read.metadata;
  return resourceVersion === undefined ? desired : { ...desired, metadata: { ...desired.metadata, resourceVersion } };
}
