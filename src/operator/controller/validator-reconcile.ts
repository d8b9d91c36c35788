import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { validatorNames } from '../../api/names.ts';
import { defaultCertificatePolicy } from '../../certs/certificate-policy.ts';
import type { Rotation } from '../../certs/rotation/rotation.ts';
import { validatorCertificateNames } from '../../manifests/certificate-terms.ts';
import { validatorObjects } from '../../manifests/validator-objects.ts';
import { advanceCertificates, type RotatingParts } from '../certificates/certificate-keeper.ts';
import { manifestContext, type OperatorSettings, resyncMs } from '../settings.ts';
import { combineResults, logRepairs } from './pass-context.ts';
import { webhooksOf } from '../webhooks/published-webhook.ts';

/** Maintains the validating webhook of this operator class. The webhook fails open. */
export class ValidatorReconciler {
  readonly #options: RotatingParts;
  /** The most recently logged namespace of another installation. */
  #loggedNamespace: string | undefined;

  constructor(options: RotatingParts) {
    this.#options = options;
  }

  /** Resolves with the milliseconds until the next call; rejects with errors of the API server. */
  async reconcile(signal: AbortSignal): Promise<number> {
    const { settings, view, owned, metrics, clock, logger } = this.#options;
    const { namespace, operatorClass } = settings.context;
    const names = validatorNames(operatorClass);
    if (this.#isOfOtherInstallation()) return resyncMs;
    const { rotation, writes } = await advanceCertificates(
      this.#options,
      {
        rotationSecret: (stored) => rotationSecretOf(stored, settings),
        servingSecret: names.servingSecret,
        policy: defaultCertificatePolicy,
        names: validatorCertificateNames(operatorClass, namespace),
        webhooks: [view.validatingWebhooks.get(names.webhookConfiguration)],
      },
      signal,
    );
    if (rotation.serving !== undefined) {
      const { notAfter, caNotAfter } = rotation.serving;
      metrics.certificateExpires?.(names.service, notAfter, caNotAfter);
    }
    const published = manifestContext(settings, view);
    const [, ...objects] = validatorObjects(rotation, published ?? settings.context);
    for (const object of objects) {
      const isWebhook = object.kind === 'ValidatingWebhookConfiguration';
      if (!isWebhook || published !== undefined) writes.push(await owned.apply(object, signal));
    }
    logRepairs(writes, logger);
    const next = rotation.nextAt.getTime() - clock.now().getTime();
    return Math.max(0, Math.min(next, combineResults({ writes }).retryAfter));
  }

  /** Reports whether another installation owns the webhook; see `RevisionReconciler`. */
  #isOfOtherInstallation(): boolean {
    const { settings, view, logger } = this.#options;
    const { namespace, operatorClass } = settings.context;
    const { webhookConfiguration, servingSecret } = validatorNames(operatorClass);
    const other = otherInstallation(view.validatingWebhooks.get(webhookConfiguration), namespace);
    if (other === undefined || view.secrets.get(servingSecret, namespace) !== undefined) return false;
    if (this.#loggedNamespace !== other) {
      this.#loggedNamespace = other;
      const target = `calls a Service in namespace ${other}, where another installation of operator class ${operatorClass} runs`;
      const advice =
        'give this operator another --operator-class, or delete the webhook configuration if the other installation is gone';
      const what = `ValidatingWebhookConfiguration ${webhookConfiguration}`;
      logger.warn(`${what} ${target}; the operator does not write it: ${advice}`);
    }
    return true;
  }
}

/** Returns the Secret of the rotation, which is the first of the validator's objects. */
function rotationSecretOf(stored: Rotation['stored'], { context }: OperatorSettings): KubernetesObject {
  const [secret] = validatorObjects({ stored, caBundlePem: '' }, context);
  if (secret === undefined) throw new Error('the validator has no objects');
  return secret;
}

/**
 * Returns the namespace of another installation that owns a live webhook configuration; undefined
 * if this operator may write it. Another installation owns it if all webhooks call Services in one
 * other namespace. All installations have the same field manager, so only the namespace differs.
 * @param namespace the namespace of this operator
 */
export function otherInstallation(live: KubernetesObject | undefined, namespace: string): string | undefined {
  const namespaces = new Set(webhooksOf(live).map(({ clientConfig }) => clientConfig?.service?.namespace));
  const [named] = namespaces;
  return namespaces.size === 1 && named !== namespace ? named : undefined;
}
