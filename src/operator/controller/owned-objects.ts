import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { AppliedObject, ForeignField } from '../../kube/apply-object.ts';
import type { ObjectKey } from '../../kube/request-options.ts';
import type { WebhookConfiguration } from '../../manifests/webhook-configuration.ts';

/** Something of ours was not as we had left it, and is again; `difference` is undefined when the whole object was missing. */
export type Repair = Pick<AppliedObject, 'object' | 'difference' | 'foreign'>;

/** What a series of writes came to. */
export interface WriteOutcome {
  readonly repairs: Repair[];
  readonly foreign: ForeignField[];
  /** Milliseconds after which what was put off may be tried again. */
  retryAfter: number | undefined;
}

export function noWrites(): WriteOutcome {
  return { repairs: [], foreign: [], retryAfter: undefined };
}

/** Writes and removes our objects, MutatingWebhookConfigurations apart: those are `WebhookWriter`'s alone, by this type. */
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
