import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { AppliedObject } from '../../kube/apply-object.ts';
import type { ObjectKey } from '../../kube/api-client.ts';
import type { WebhookConfiguration } from '../../manifests/webhook-configuration.ts';

/** The outcome of applying one of our objects. */
export interface ObjectWrite extends AppliedObject {
  /** Whether it undid a change of another client; `difference` is undefined after a deletion. */
  readonly isRepair: boolean;
}

/** Writes and deletes our objects, except MutatingWebhookConfigurations: see `WebhookWriter`. */
export interface OwnedObjects {
  apply<T extends KubernetesObject>(
    desired: T extends WebhookConfiguration ? never : T,
    signal: AbortSignal,
  ): Promise<ObjectWrite>;
  remove<T extends KubernetesObject>(
    object: T extends WebhookConfiguration ? never : T,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined>;
  read(like: ObjectKey, signal: AbortSignal): Promise<KubernetesObject | undefined>;
}
