import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { validatorNames } from '../../api/names.ts';
import { defaultCertificatePolicy } from '../../certs/certificate-policy.ts';
import type { Rotation } from '../../certs/rotation/rotation.ts';
import { validatorCertificateNames } from '../../manifests/certificate-terms.ts';
import { validatorObjects } from '../../manifests/validator-objects.ts';
import type { CertificateKeeper } from '../certificates/certificate-keeper.ts';
import { manifestContext, type OperatorSettings, resyncMs } from '../settings.ts';
import { noWrites } from './owned-objects.ts';
import type { PassContext } from './pass-context.ts';
import { webhooksOf } from '../webhooks/published-webhook.ts';

export interface ValidatorReconcilerOptions extends PassContext {
  readonly certificates: CertificateKeeper;
}

/** Keeps the validating webhook of this operator class, its Service and its certificate. Nothing waits for it: it fails open. */
export class ValidatorReconciler {
  readonly #options: ValidatorReconcilerOptions;
  /** The namespace of another installation that we have told of. */
  #told: string | undefined;

  constructor(options: ValidatorReconcilerOptions) {
    this.#options = options;
  }

  /** Resolves with the milliseconds until it wants to be called again; rejects when the API server does. */
  async reconcile(signal: AbortSignal): Promise<number> {
    const { settings, view, owned, certificates, metrics, clock, logger } = this.#options;
    const { namespace, operatorClass } = settings.context;
    const names = validatorNames(operatorClass);
    if (this.#isOfAnother()) return resyncMs;
    const writes = noWrites();
    const rotation = await certificates.advance(
      {
        rotationSecret: (stored) => rotationSecretOf(stored, settings),
        servingSecret: names.servingSecret,
        policy: defaultCertificatePolicy,
        names: validatorCertificateNames(operatorClass, namespace),
        webhooks: [view.validatingWebhooks.get(names.webhookConfiguration)],
      },
      writes,
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
      if (!isWebhook || published !== undefined) await owned.apply(object, writes, signal);
    }
    for (const { object, difference } of writes.repairs) {
      logger.warn('repaired', { object: `${object.kind} ${object.metadata.name ?? ''}`, difference });
    }
    const next = rotation.nextAt.getTime() - clock.now().getTime();
    return Math.max(0, Math.min(resyncMs, next, writes.retryAfter ?? resyncMs));
  }

  /** Two installations of one operator class would undo each other's writes for ever; the one that has nothing here yet keeps away. */
  #isOfAnother(): boolean {
    const { settings, view, logger } = this.#options;
    const { namespace, operatorClass } = settings.context;
    const { webhookConfiguration, servingSecret } = validatorNames(operatorClass);
    const other = otherInstallation(view.validatingWebhooks.get(webhookConfiguration), namespace);
    if (other === undefined || view.secrets.get(servingSecret, namespace) !== undefined) return false;
    if (this.#told !== other) {
      this.#told = other;
      const lives = `leads to namespace ${other}, where another installation of operator class ${operatorClass} lives`;
      const advice =
        'give this one another --operator-class, or delete the webhook configuration if nobody is there any more';
      const what = `ValidatingWebhookConfiguration ${webhookConfiguration}`;
      logger.warn(`${what} ${lives}; nothing of it is written: ${advice}`);
    }
    return true;
  }
}

/** The first of the validator's objects. */
function rotationSecretOf(stored: Rotation['stored'], { context }: OperatorSettings): KubernetesObject {
  const [secret] = validatorObjects({ stored, caBundlePem: '' }, context);
  if (secret === undefined) throw new Error('the validator has no objects');
  return secret;
}

/**
 * The namespace of another installation to which a live webhook configuration leads; undefined when it is ours to write.
 * Where every webhook calls a Service of one namespace that is not ours, somebody of the same operator class lives there: their fields have the
 * same manager as ours, so nothing else tells the two apart.
 * @param namespace the namespace in which this operator lives
 */
export function otherInstallation(live: KubernetesObject | undefined, namespace: string): string | undefined {
  const namespaces = new Set(webhooksOf(live).map(({ clientConfig }) => clientConfig?.service?.namespace));
  const [named] = namespaces;
  return namespaces.size === 1 && named !== namespace ? named : undefined;
}
