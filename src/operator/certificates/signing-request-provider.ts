import { isDeepStrictEqual } from 'node:util';
import { commandLine } from '../../api/command-line.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, objectNames, signingRequestName } from '../../api/names.ts';
import type { GenerateKeyPair } from '../../certs/key-pair.ts';
import { encodeCertificateRequest, keyDigest } from '../../certs/requests/encode-request.ts';
import { type PendingRequest, readRequestSecret, writeRequestSecret } from '../../certs/requests/request-state.ts';
import {
  decideRequest,
  type ObservedRequest,
  type RequestDecision,
  type RequestProgress,
} from '../../certs/requests/request-steps.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError, ignoreNotFound, isConflict } from '../../kube/api-error.ts';
import { revisionLabels } from '../../manifests/manifest-context.ts';
import { opaqueSecret, base64 } from '../../manifests/desired-objects.ts';
import { ownedSelector, signingRequests } from '../cluster-view.ts';
import type { PassContext } from '../controller/pass-context.ts';
import type { FollowedObjects } from '../followed-objects.ts';
import { fieldManager } from '../settings.ts';
import {
  adviceFor,
  type CertificateProvider,
  endsPass,
  failed,
  type ProvidedCertificates,
  refused,
  type Statement,
} from './certificate-provider.ts';
import { ownSecret } from './certificate-keeper.ts';
import { secretText } from './secret-text.ts';
import { readTrust } from './trusted-authorities.ts';

const field = 'spec.certificate.signerName';
const trustAdvice = 'add the authority of the signer to caBundle, or to the object that caBundleFrom names';

export interface SigningRequestProviderOptions extends Pick<PassContext, 'view' | 'settings' | 'clock'> {
  readonly client: Pick<ApiClient, 'find' | 'create' | 'replace' | 'delete' | 'list'>;
  readonly followed: FollowedObjects;
  readonly generateKeyPair: GenerateKeyPair;
}

/**
 * Implements `spec.certificate.provider: CertificateSigningRequest` (certificates.k8s.io/v1).
 * Stores the key, the answer and past attempts in Secret `injector-request-N` before it creates the
 * request, so that the next leader continues. The name of the request is derived from the key.
 */
export function createSigningRequestProvider(options: SigningRequestProviderOptions): CertificateProvider {
  const { client, followed, clock, settings, view, generateKeyPair } = options;
  const { namespace, operatorClass } = settings.context;

  /** Deletes requests whose label and name are ours, since any client may set our labels. */
  async function release(injectorConfig: string, signal: AbortSignal): Promise<void> {
    const labelSelector = `${ownedSelector(operatorClass)},${labelNames.injectorConfig}=${injectorConfig}`;
    const { items } = await client.list(signingRequests, { labelSelector, signal });
    const prefix = signingRequestName(injectorConfig, '');
    for (const object of items)
      if (object.metadata.name?.startsWith(prefix) === true)
        await client.delete(object, { signal }).catch(ignoreNotFound);
    const secret = await ownSecret(options, objectNames(injectorConfig).requestSecret, signal);
    if (secret === undefined) return;
    await client.delete(secret, { signal }).catch(ignoreNotFound);
    view.secrets.remove(secret);
  }

  const provide: CertificateProvider['provide'] = async (config, names, signal) => {
    const { name } = config.metadata;
    const trusted = await readTrust(config, followed, namespace, signal);
    if (trusted === undefined) throw new Error('the schema requires authorities for CertificateSigningRequest');
    if ('refusal' in trusted) return trusted.refusal;
    const stored = await ownSecret(options, objectNames(name).requestSecret, signal);
    const state = readRequestSecret(stored ? secretText(stored) : {});
    const { signerName = '', expirationSeconds, keySize, renewalFraction } = config.spec.certificate;
    const terms = { signerName, ...(expirationSeconds !== undefined && { expirationSeconds }), keySize };
    const [calledName = ''] = names;
    const { pending: asked } = state;
    const seen = asked && (await followed.read(name, signingRequests, { name: nameOf(name, asked) }, signal));
    const decision = await decideRequest({
      state,
      observed: seen && observedRequest(seen),
      terms: { ...terms, names: [...names] },
      trustPem: trusted.pem,
      calledName,
      origin: `signer ${signerName}`,
      renewalFraction,
      timeScale: settings.testCertificateTimeScale ?? 1,
      now: clock.now(),
      generateKeyPair,
    });
    const { pending } = decision.state;
    const answered = answer(decision, pending && nameOf(name, pending), calledName);
    try {
      const isChanged = !isDeepStrictEqual(decision.state, state) || (stored !== undefined && !view.isOurs(stored));
      if (isChanged) await store(config, decision, stored, signal);
      if (decision.mustCreate && pending !== undefined) await make(config, pending, signal);
      if (decision.replaced !== undefined) {
        const replaced = signingRequest(config, decision.replaced);
        await client.delete(replaced, { signal }).catch(ignoreNotFound);
      }
      return answered;
    } catch (error) {
      // An error from the API server must not withdraw a valid certificate.
      if (decision.given === undefined || !(error instanceof ApiError) || endsPass(error)) throw error;
      const { refusal: note, nextAt } = failed(error, clock.now());
      return { source: decision.given, ...(note && { note }), ...(nextAt && { nextAt }) };
    }
  };

  /** Writes with the resourceVersion that was read: the second of two leaders gets a Conflict. */
  async function store(
    config: InjectorConfig,
    { state }: RequestDecision,
    stored: KubernetesObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const place = { namespace, labels: revisionLabels(config) };
    const { requestSecret } = objectNames(config.metadata.name);
    const desired = opaqueSecret(requestSecret, writeRequestSecret(state), place);
    const how = { fieldManager, signal };
    const { resourceVersion } = stored?.metadata ?? {};
    view.secrets.upsert(
      resourceVersion === undefined
        ? await client.create(desired, how)
        : await client.replace({ ...desired, metadata: { ...desired.metadata, resourceVersion } }, how),
    );
  }

  /** Creates the request, unless an earlier attempt has created it. */
  async function make(config: InjectorConfig, pending: PendingRequest, signal: AbortSignal): Promise<void> {
    const request = signingRequest(config, pending);
    const { name = '' } = request.metadata;
    await client.create(request, { fieldManager, signal }).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
    // This read starts the watch of the request.
    await followed.read(config.metadata.name, signingRequests, { name }, signal);
  }

  return { provide, release };
}

function signingRequest(config: InjectorConfig, pending: PendingRequest): KubernetesObject {
  const { privateKeyPem, terms } = pending;
  const { signerName, expirationSeconds, names } = terms;
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: nameOf(config.metadata.name, pending), labels: revisionLabels(config) },
    spec: {
      request: base64(encodeCertificateRequest(privateKeyPem, names)),
      signerName,
      ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
      usages: ['digital signature', 'key encipherment', 'server auth'],
    },
  };
}

function nameOf(injectorConfig: string, { privateKeyPem }: PendingRequest): string {
  return signingRequestName(injectorConfig, keyDigest(privateKeyPem));
}

interface RequestStatus {
  certificate?: string;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
}

/** Reads a CertificateSigningRequestStatus. Denied and Failed take precedence over Approved. */
function observedRequest({ metadata, status }: KubernetesObject): ObservedRequest {
  const { certificate, conditions = [] } = (status ?? {}) as RequestStatus;
  const verdict = (['Denied', 'Failed', 'Approved'] as const).find((each) =>
    conditions.some(({ type, status }) => type === each && status === 'True'),
  );
  const { reason = '', message = '' } = conditions.find(({ type }) => type === verdict) ?? {};
  return {
    uid: metadata.uid ?? '',
    verdict: verdict ?? 'Waiting',
    message: [reason, message].filter((text) => text !== '').join(': '),
    ...(certificate === undefined ? {} : { certificatePem: Buffer.from(certificate, 'base64').toString('utf8') }),
  };
}

function answer(decision: RequestDecision, request: string | undefined, calledName: string): ProvidedCertificates {
  const { given, progress, nextAt } = decision;
  const statement =
    progress && statementOf(progress, request ?? '', decision.state.pending?.terms.signerName, calledName);
  if (given === undefined)
    return refused(statement?.reason ?? 'Untrusted', `${field}: ${statement?.message ?? trustAdvice}`, nextAt);
  const note = statement && { note: { reason: 'RenewalPending' as const, message: statement.message } };
  return { source: given, ...note, ...(nextAt && { nextAt }) };
}

/** Returns the reason and message, with advice, for the progress of a request. */
function statementOf(
  { outcome, message, since, retryAt }: RequestProgress,
  name: string,
  signer = '',
  calledName: string,
): Statement {
  const what = `CertificateSigningRequest ${name} of ${since.toISOString()}`;
  const why = message === '' ? '' : ` (${message})`;
  const retry = retryAt === undefined ? '' : `; the operator creates another one at ${retryAt.toISOString()}`;
  const reply = (reason: Statement['reason'], text: string): Statement => ({ reason, message: text + retry });
  switch (outcome) {
    case 'New':
    case 'Waiting': {
      const advice = `approve it with \`${commandLine`kubectl certificate approve ${name}`}\`, or ask the approver of signer ${signer}`;
      return reply('RequestPending', `${what} waits for its approval: ${advice}`);
    }
    case 'Approved':
      return reply('RequestPending', `${what} is approved and waits for signer ${signer}; check that the signer runs`);
    case 'Denied':
      return reply('RequestDenied', `${what} was denied${why}`);
    case 'Failed':
      return reply('RequestFailed', `signer ${signer} refused ${what}${why}`);
    case 'Removed':
      return reply('RequestRemoved', `${what} was removed before it was signed`);
    default: {
      const advice = outcome === 'Untrusted' ? trustAdvice : adviceFor(calledName)[outcome];
      return reply(outcome, `the certificate that signer ${signer} issued for ${what}: ${message}; ${advice}`);
    }
  }
}
