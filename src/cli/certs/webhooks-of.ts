import { group } from '../../api/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';

/** The parts of an admissionregistration.k8s.io/v1 webhook that say whom the API server calls and whom it trusts. */
export interface Webhook {
  readonly name?: string;
  readonly clientConfig?: {
    readonly caBundle?: string;
    readonly url?: string;
    readonly service?: { readonly name?: string; readonly namespace?: string };
  };
}

/** The webhooks of a configuration that are ours; what somebody added calls somebody else. */
export function webhooksOf(configuration: KubernetesObject): Webhook[] {
  const { webhooks } = configuration;
  const all = Array.isArray(webhooks) ? (webhooks as Webhook[]) : [];
  return all.filter(({ name }) => name?.endsWith(`.${group}`) === true);
}
