import type { KubernetesObject } from '../../api/kubernetes.ts';
import { rolloutOfPath } from '../../api/names.ts';

interface Webhook {
  readonly rules?: readonly { readonly resources?: readonly string[] }[];
  readonly clientConfig?: { readonly url?: string; readonly service?: { readonly path?: string } };
}

/** What a webhook configuration injects. */
export interface PublishedConfiguration {
  readonly injectorConfig: string;
  readonly hash: string;
  /** What some of the workloads get instead, in the middle of a tag's rollout; see `src/rollout`. */
  readonly canary?: { readonly injectorConfig: string; readonly hash: string; readonly threshold: string };
}

/** `/revisions/N/<hash8>/inject` and `/tags/T/N/<hash8>/inject`, at the end of a path or URL. */
const injectPath = /\/(?:revisions|tags\/[a-z0-9-]+)\/([a-z0-9-]+)\/([0-9a-f]{8})\/inject$/;

/**
 * The InjectorConfig and the hash to which all webhooks of a configuration send pods; undefined unless they agree, and for the twin by which a path
 * is tried out, which asks for ConfigMaps.
 */
export function publishedConfiguration(configuration: KubernetesObject): PublishedConfiguration | undefined {
  const webhooks = Array.isArray(configuration.webhooks) ? (configuration.webhooks as Webhook[]) : [];
  if (!webhooks.every(({ rules = [] }) => rules.some(({ resources = [] }) => resources.includes('pods')))) {
    return undefined;
  }
  const paths = new Set(webhooks.map(({ clientConfig }) => clientConfig?.service?.path ?? clientConfig?.url ?? ''));
  const [path] = paths;
  return paths.size === 1 && path !== undefined ? configurationOf(path) : undefined;
}

function configurationOf(path: string): PublishedConfiguration | undefined {
  const rollout = rolloutOfPath(path);
  if (rollout !== undefined) {
    const { stable, canary, threshold, shadow } = rollout;
    return {
      injectorConfig: stable.name,
      hash: stable.hash,
      ...(shadow ? {} : { canary: { injectorConfig: canary.name, hash: canary.hash, threshold } }),
    };
  }
  const [, injectorConfig, hash] = injectPath.exec(path) ?? [];
  return injectorConfig === undefined || hash === undefined ? undefined : { injectorConfig, hash };
}
