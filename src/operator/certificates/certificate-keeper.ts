import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { GenerateKeyPair } from '../../certs/key-pair.ts';
import type { RandomBytes } from '../../certs/random-source.ts';
import type { RotationInput } from '../../certs/rotation/rotation-steps.ts';
import { parseBundles } from '../../certs/read-certificate.ts';
import { parsePair } from '../../certs/verify-chain.ts';
import { rotate, type Rotation } from '../../certs/rotation/rotation.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { secrets } from '../cluster-view.ts';
import type { ObjectWrite } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { caBundlesOf } from '../webhooks/published-webhook.ts';
import { secretText, servingPairOf } from './secret-text.ts';
import { fieldManager } from '../settings.ts';

/** The owner of certificates: its two Secrets and their desired contents. */
export interface CertificateSubject extends Pick<RotationInput, 'policy' | 'names' | 'source' | 'request'> {
  /** Returns the Secret that stores the state of the rotation. */
  readonly rotationSecret: (stored: Rotation['stored']) => KubernetesObject;
  readonly servingSecret: string;
  /** The webhook configurations whose CA bundles must trust the served certificate. */
  readonly webhooks: readonly (KubernetesObject | undefined)[];
}

export interface RotatingParts extends PassContext {
  readonly client: Pick<ApiClient, 'find' | 'create'>;
  readonly random: RandomBytes;
  readonly generateKeyPair: GenerateKeyPair;
}

/**
 * Runs one pass of a rotation, based on the live Secrets and webhooks. Writes its state with the
 * resourceVersion that was read, so that the second of two leaders gets a Conflict. The caller then
 * writes the serving Secret and, last, the caBundle.
 * @throws CertificatePolicyError if the policy or a name is invalid; nothing is written then
 */
export async function advanceCertificates(
  parts: RotatingParts,
  subject: CertificateSubject,
  signal: AbortSignal,
): Promise<{ rotation: Rotation; writes: ObjectWrite[] }> {
  const { client, view, owned, clock, random, generateKeyPair } = parts;
  const { rotationSecret, servingSecret, webhooks, ...terms } = subject;
  const stored = await ownSecret(parts, rotationSecret({}).metadata.name ?? '', signal);
  const serving = await ownSecret(parts, servingSecret, signal);
  const rotation = await rotate({
    ...terms,
    stored: stored && secretText(stored),
    serving: serving && parsePair(servingPairOf(serving)),
    bundles: parseBundles(webhooks.flatMap(caBundlesOf)),
    now: clock.now(),
    random,
    generateKeyPair,
  });
  const desired = rotationSecret(rotation.stored);
  if (stored === undefined) {
    // If two leaders find no Secret, one of them gets a Conflict (AlreadyExists) and retries.
    view.secrets.upsert(await client.create(desired, { fieldManager, signal }));
    return { rotation, writes: [] };
  }
  const metadata = { ...desired.metadata, resourceVersion: stored.metadata.resourceVersion ?? '' };
  const write = await owned.apply({ ...desired, metadata }, signal);
  const { outcome, retryAfter = 0 } = write;
  // A certificate or bundle of a state that is not recorded would differ in the next pass.
  const message = `Secret ${desired.metadata.name ?? ''} was replaced less than a second ago, so its next state is not written yet`;
  if (outcome === 'Deferred')
    throw new ApiError({ code: 409, reason: 'Conflict', message, retryAfter: retryAfter / 1000 });
  return { rotation, writes: [write] };
}

/** Returns one of our Secrets. Sends a GET if the view lacks it, as when its labels were lost. */
export async function ownSecret(
  { client, view, settings }: Pick<RotatingParts, 'view' | 'settings'> & { client: Pick<ApiClient, 'find'> },
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
