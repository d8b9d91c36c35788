import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames } from '../../api/names.ts';
import { CertificatePolicyError } from '../../certs/certificate-policy.ts';
import type { Rotation } from '../../certs/rotation/rotation.ts';
import { earliestTime } from '../../certs/rotation/rotation-state.ts';
import { ApiError, isConflict } from '../../kube/api-error.ts';
import { certificateNames, certificatePolicy, requestedNames } from '../../manifests/certificate-terms.ts';
import { rotationSecret } from '../../manifests/desired-objects.ts';
import { advanceCertificates, type RotatingParts } from './certificate-keeper.ts';
import {
  type CertificateProvider,
  endsPass,
  failed,
  type ProvidedCertificates,
  refused,
} from './certificate-provider.ts';
import type { WebhookWriter } from '../webhooks/webhook-writer.ts';
import { resyncMs } from '../settings.ts';
import type { PassMemory, PassResult, RevisionPass } from '../controller/pass-context.ts';
import type { Refusals } from '../controller/refusals.ts';
import { type Finding, no, type RevisionFindings, yes } from '../controller/revision-status.ts';
import { hostClaimOf } from './host-claims.ts';
import { requestedRenewal, rotateAnswer } from './rotate-requests.ts';

/** The last call of `release`, at a monotonic time in milliseconds, and the provider it kept. */
export interface ReleaseMemory {
  released?: { readonly kept: string | undefined; readonly at: number };
}

export interface CertificateParts extends RotatingParts {
  readonly memory: PassMemory<ReleaseMemory>;
  readonly webhooks: Pick<WebhookWriter, 'callersOf'>;
  readonly providers: Readonly<Record<InjectorConfig['spec']['certificate']['provider'], CertificateProvider>>;
  readonly refusals: Refusals;
}

type CertificateResult = PassResult<RevisionFindings> & { readonly findings: RevisionFindings };

/**
 * Runs one pass of the rotation for the spec of an InjectorConfig, and reports the results to
 * users. Writes nothing and returns no rotation for an invalid policy.
 */
export async function certify(
  parts: CertificateParts,
  { config, object, signal }: RevisionPass,
): Promise<CertificateResult> {
  const { settings, webhooks, refusals, metrics, clock } = parts;
  const { namespace } = settings.context;
  const { name } = config.metadata;
  const renewal = requestedRenewal(object, config, namespace);
  const { hosts, taken } = hostClaimOf(config, parts);
  const requested = requestedNames(config, namespace, hosts);
  const provided = await provide(parts, config, requested, taken, signal);
  const { source, refusal, nextAt } = provided;
  try {
    const { rotation: rotated, writes } = await advanceCertificates(
      parts,
      {
        rotationSecret: (stored) => rotationSecret(config, stored, settings.context),
        servingSecret: objectNames(name).servingSecret,
        policy: certificatePolicy(config, settings.testCertificateTimeScale),
        names: certificateNames(name, namespace, hosts),
        webhooks: webhooks.callersOf(name),
        ...(source && { source }),
        ...(renewal.request && { request: renewal.request }),
      },
      signal,
    );
    const rotation = nextAt ? { ...rotated, nextAt: earliestTime(rotated.nextAt, nextAt) } : rotated;
    if (refusals.report(object, 'Certificate', refusal)) metrics.certificateRotated?.(name, 'leaf', 'refused');
    report(parts, object, rotation);
    const CertificateReady = certificateFinding(rotation, config, clock.now(), provided);
    return { findings: { rotation, rotateRequest: rotateAnswer(renewal, rotation), CertificateReady }, writes };
  } catch (error) {
    if (!(error instanceof CertificatePolicyError)) {
      if (!isConflict(error)) metrics.certificateRotated?.(name, 'leaf', 'failed');
      throw error;
    }
    const CertificateReady = no('InvalidPolicy', `spec.certificate: ${error.message}`);
    if (refusals.report(object, 'Certificate', CertificateReady)) metrics.certificateRotated?.(name, 'leaf', 'refused');
    return { findings: { CertificateReady } };
  } finally {
    const { message } = renewal.answer ?? {};
    refusals.report(object, 'RotateRequest', message === undefined ? undefined : { reason: 'RotateRefused', message });
  }
}

/**
 * Deletes the objects of unused providers, at most once per resync. Skips objects that the
 * operator may not delete. @param config absent if the InjectorConfig is gone
 */
export async function releaseCertificates(
  { providers, clock, logger, memory }: CertificateParts,
  name: string,
  signal: AbortSignal,
  config?: InjectorConfig,
): Promise<void> {
  const kept = config && keptProvider(config);
  const [before, now] = [memory.read(name).released, clock.monotonic()];
  if (before?.kept === kept && now - (before?.at ?? -Infinity) < resyncMs) return;
  for (const [key, provider] of Object.entries(providers))
    if (key !== kept)
      await provider.release?.(name, signal).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 403) throw error;
        logger.warn(`certificate provider ${key}: objects are not deleted: ${error.message}`, {
          injectorConfig: name,
        });
      });
  memory.of(name).released = { kept, at: now };
}

/** Asks the provider in the spec unless the host is taken. */
async function provide(
  { providers, clock, logger, memory }: CertificateParts,
  config: InjectorConfig,
  names: readonly string[],
  taken: Finding | undefined,
  signal: AbortSignal,
): Promise<ProvidedCertificates> {
  const { name } = config.metadata;
  const chosen = providers[config.spec.certificate.provider];
  // A provider may have created objects even if it was chosen only for a moment.
  if (memory.read(name).released?.kept !== keptProvider(config)) delete memory.of(name).released;
  const isOwn = config.spec.certificate.provider === 'SelfSigned';
  if (taken !== undefined && !isOwn) return refused(taken.reason, taken.message);
  return chosen.provide(config, names, signal).catch((error: unknown) => {
    if (signal.aborted || endsPass(error)) throw error;
    if (!(error instanceof ApiError)) {
      // Log only the location, since the message may quote a key.
      const where = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^ +at /.test(line)) : [];
      logger.error('a certificate provider failed', { injectorConfig: name, where: where.slice(0, 3).join() });
    }
    return failed(error, clock.now());
  });
}

function report(
  { events, metrics, logger }: CertificateParts,
  object: KubernetesObject,
  { changes, serving }: Rotation,
): void {
  const { name = '' } = object.metadata;
  events.rotated(object, changes);
  for (const { kind, subject, message, confirmedAfter } of changes) {
    logger.info(`certificate: ${message}`, { injectorConfig: name, change: kind, subject });
    if (kind === 'Issued' && subject === 'ServingCertificate') metrics.certificateRotated?.(name, 'leaf', 'success');
    if (kind === 'Swapped') metrics.certificateRotated?.(name, 'authority', 'success');
    if (confirmedAfter !== undefined) metrics.authorityConfirmed?.(confirmedAfter / 1000);
  }
  if (serving !== undefined) metrics.certificateExpires?.(name, serving.notAfter, serving.caNotAfter);
}

/** Returns the provider whose objects are in use; undefined for a user's Certificate. */
function keptProvider({ spec: { certificate } }: InjectorConfig): string | undefined {
  return certificate.certificateRef === undefined ? certificate.provider : undefined;
}

function certificateFinding(
  { serving, phase, renewAt }: Rotation,
  { spec: { certificate } }: InjectorConfig,
  now: Date,
  { refusal, note }: ProvidedCertificates,
): Finding {
  if (refusal !== undefined) {
    const consequence =
      serving === undefined
        ? 'no certificate is served'
        : `the previous certificate, valid until ${serving.notAfter.toISOString()}, is still served`;
    return no(refusal.reason, `${refusal.message}; ${consequence}`);
  }
  if (serving === undefined)
    return no(phase, 'the new serving certificate is served once every API server trusts its authority');
  const message = `the serving certificate is valid until ${serving.notAfter.toISOString()}`;
  if (note !== undefined) return yes(note.reason, `${message}; ${note.message}`);
  if (certificate.secretRef !== undefined && renewAt <= now)
    return yes('RenewalDue', `${message}: replace it in Secret ${certificate.secretRef.name} before then`);
  return yes(phase, message);
}
