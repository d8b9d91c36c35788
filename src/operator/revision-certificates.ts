import type { InjectorConfig } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { objectNames } from '../api/names.ts';
import { CertificatePolicyError } from '../certs/certificate-policy-error.ts';
import type { Rotation } from '../certs/rotation.ts';
import type { Logger } from '../kube/ports.ts';
import { certificateNames, certificatePolicy } from '../manifests/certificate-terms.ts';
import { rotationSecret } from '../manifests/desired-objects.ts';
import type { CertificateKeeper } from './certificate-keeper.ts';
import type { ClusterView } from './cluster-view.ts';
import type { WriteOutcome } from './owned-objects.ts';
import type { OperatorMetrics } from './ports.ts';
import type { Refusals } from './refusals.ts';
import type { RevisionEvents } from './revision-events.ts';
import type { Finding, RevisionFindings } from './revision-status.ts';
import { askedRenewal, rotateAnswer } from './rotate-requests.ts';
import type { OperatorSettings } from './settings.ts';

export interface RevisionCertificatesOptions {
  readonly settings: OperatorSettings;
  readonly view: ClusterView;
  readonly certificates: CertificateKeeper;
  readonly refusals: Refusals;
  readonly events: RevisionEvents;
  readonly metrics: OperatorMetrics;
  readonly logger: Logger;
}

/** The certificates of one InjectorConfig: what it asks for goes into the rotation, what the rotation says goes to people. */
export class RevisionCertificates {
  readonly #options: RevisionCertificatesOptions;

  constructor(options: RevisionCertificatesOptions) {
    this.#options = options;
  }

  /** One pass of the rotation; undefined when the policy cannot work, which is left in `findings`: what is served goes on being served. */
  async advance(
    config: InjectorConfig,
    object: KubernetesObject,
    findings: RevisionFindings,
    writes: WriteOutcome,
    signal: AbortSignal,
  ): Promise<Rotation | undefined> {
    const { certificates, settings, view, refusals } = this.#options;
    const { name } = config.metadata;
    const names = objectNames(name);
    const asked = askedRenewal(object, config);
    try {
      const rotation = await certificates.advance(
        {
          namespace: settings.context.namespace,
          rotationSecret: (stored) => rotationSecret(config, stored, settings.context),
          servingSecret: names.servingSecret,
          policy: certificatePolicy(config, settings.certificateTimeScale),
          names: certificateNames(config, settings.context.namespace),
          webhooks: view.webhooksOf(name),
          ...(asked.request && { request: asked.request }),
        },
        writes,
        signal,
      );
      findings.rotation = rotation;
      findings.rotateRequest = rotateAnswer(asked, rotation);
      findings.CertificateReady = certificateFinding(rotation);
      refusals.settled(name, 'Certificate');
      this.#tell(object, rotation);
      return rotation;
    } catch (error) {
      if (!(error instanceof CertificatePolicyError)) throw error;
      const message = `spec.certificate: ${error.message}`;
      findings.CertificateReady = { status: 'False', reason: 'InvalidPolicy', message };
      refusals.refuse(object, 'Certificate', 'InvalidPolicy', message);
      return undefined;
    } finally {
      const { message } = asked.answer ?? {};
      if (message === undefined) refusals.settled(name, 'RotateRequest');
      else refusals.refuse(object, 'RotateRequest', 'RotateRefused', message);
    }
  }

  #tell(object: KubernetesObject, { changes, serving }: Rotation): void {
    const { events, metrics, logger } = this.#options;
    const { name = '' } = object.metadata;
    events.rotated(object, changes);
    for (const { kind, subject, message } of changes) {
      logger.info(`certificate: ${message}`, { injectorConfig: name, change: kind, subject });
    }
    if (serving !== undefined) metrics.certificateExpires?.(name, serving.notAfter);
  }
}

function certificateFinding({ serving, phase }: Rotation): Finding {
  if (serving === undefined) {
    const message = 'the new serving certificate is served once its authority is trusted everywhere';
    return { status: 'False', reason: phase, message };
  }
  const message = `the serving certificate is valid until ${serving.notAfter.toISOString()}`;
  return { status: 'True', reason: phase, message };
}
