import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { GenerateKeyPair } from '../../certs/key-pair.ts';
import type { RandomBytes } from '../../certs/random-source.ts';
import type { RotationInput } from '../../certs/rotation/rotation-steps.ts';
import { rotate, type Rotation } from '../../certs/rotation/rotation.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { secrets } from '../cluster-view.ts';
import type { WriteOutcome } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { caBundlesOf } from '../webhooks/published-webhook.ts';
import { secretText, servingPairOf } from './secret-text.ts';
import { fieldManager } from '../settings.ts';

/** Whose certificates: the two Secrets, and what is to be in them. */
export interface CertificateSubject extends Pick<RotationInput, 'policy' | 'names' | 'source' | 'request'> {
  /** The Secret that holds the rotation's own data. */
  readonly rotationSecret: (stored: Rotation['stored']) => KubernetesObject;
  /** Name of the Secret that replicas serve. */
  readonly servingSecret: string;
  /** The webhook configurations whose clients must trust what is served. */
  readonly webhooks: readonly (KubernetesObject | undefined)[];
}

export interface CertificateKeeperOptions extends PassContext {
  readonly client: Pick<ApiClient, 'find' | 'create'>;
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
    const { client, view, owned, clock, random, generateKeyPair } = this.#options;
    const { rotationSecret, servingSecret, webhooks, ...terms } = subject;
    const stored = await ownSecret(this.#options, rotationSecret({}).metadata.name ?? '', signal);
    const serving = await ownSecret(this.#options, servingSecret, signal);
    const rotation = await rotate({
      ...terms,
      stored: stored && secretText(stored),
      serving: serving && servingPairOf(serving),
      bundles: webhooks.flatMap(caBundlesOf),
      now: clock.now(),
      random,
      generateKeyPair,
    });
    const desired = rotationSecret(rotation.stored);
    if (stored !== undefined) {
      const { resourceVersion } = stored.metadata;
      const metadata = resourceVersion === undefined ? desired.metadata : { ...desired.metadata, resourceVersion };
      await owned.apply({ ...desired, metadata }, into, signal);
    } else {
      // Of two leaders that both find nothing, one gets a Conflict (AlreadyExists) and looks again.
      view.secrets.upsert(await client.create(desired, { fieldManager, signal }));
    }
    return rotation;
  }
}

/** A Secret of ours, from the view; one that is not in it may only have lost its labels, and keys must not be made anew for that. */
export async function ownSecret(
  { client, view, settings }: Pick<CertificateKeeperOptions, 'view' | 'settings'> & { client: Pick<ApiClient, 'find'> },
  name: string,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  const { namespace } = settings.context;
  const seen = view.secrets.get(name, namespace);
  if (seen !== undefined) return seen;
  const found = await client.find(secrets, name, { namespace, signal });
  if (found !== undefined) view.secrets.upsert(found);
  return found;
}
