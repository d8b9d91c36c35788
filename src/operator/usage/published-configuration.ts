import type { KubernetesObject } from '../../api/kubernetes.ts';

interface Webhook {
  readonly rules?: readonly { readonly resources?: readonly string[] }[];
  readonly clientConfig?: { readonly url?: string; readonly service?: { readonly path?: string } };
}

/** `/revisions/N/<hash8>/inject` and `/tags/T/N/<hash8>/inject`, at the end of a path or URL. */
const injectPath = /\/(?:revisions|tags\/[a-z0-9-]+)\/([a-z0-9-]+)\/([0-9a-f]{8})\/inject$/;

/**
 * The InjectorConfig and the hash to which all webhooks of a configuration send pods; undefined unless they agree, and for the twin by which a path
 * is tried out, which asks for ConfigMaps.
 */
export function publishedConfiguration(
  configuration: KubernetesObject,
): { readonly injectorConfig: string; readonly hash: string } | undefined {
  const webhooks = Array.isArray(configuration.webhooks) ? (configuration.webhooks as Webhook[]) : [];
  const found = webhooks.map(({ clientConfig }) =>
    injectPath.exec(clientConfig?.service?.path ?? clientConfig?.url ?? ''),
  );
  const [, injectorConfig, hash] = found[0] ?? [];
  if (injectorConfig === undefined || hash === undefined) return undefined;
  if (!webhooks.every(({ rules = [] }) => rules.some(({ resources = [] }) => resources.includes('pods'))))
    return undefined;
  return found.every((each) => each?.[1] === injectorConfig && each[2] === hash) ? { injectorConfig, hash } : undefined;
}
