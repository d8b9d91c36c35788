import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { AppliedObject, ForeignField } from '../../kube/apply-object.ts';
import type { ObjectKey } from '../../kube/api-client.ts';
import type { WebhookConfiguration } from '../../manifests/webhook-configuration.ts';

/** The repair of one of our objects; `difference` is undefined if the object was missing. */
export type Repair = Pick<AppliedObject, 'object' | 'difference' | 'foreign'>;

/** The outcome of a series of writes. */
export interface WriteOutcome {
  readonly repairs: Repair[];
  readonly foreign: ForeignField[];
  /** The time until deferred writes may be retried, in milliseconds. */
  retryAfter: number | undefined;
}

export function noWrites(): WriteOutcome {
  return { repairs: [], foreign: [], retryAfter: undefined };
}

/** Writes and deletes our objects, except MutatingWebhookConfigurations: see `WebhookWriter`. */
export interface OwnedObjects {
  apply<T extends KubernetesObject>(
    desired: T extends WebhookConfiguration ? never : T,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<AppliedObject>;
  remove<T extends KubernetesObject>(
    object: T extends WebhookConfiguration ? never : T,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined>;
  read(like: ObjectKey, signal: AbortSignal): Promise<KubernetesObject | undefined>;
}
