import { group } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { injectPath } from '../api/names.ts';

interface Webhook {
  name?: string;
  clientConfig?: { caBundle?: string; url?: string; service?: { path?: string } };
}

/** The caBundles of a webhook configuration as PEM, one for each of our webhooks; what somebody added calls somebody else. */
export function caBundlesOf(configuration: KubernetesObject | undefined): string[] {
  return webhooksOf(configuration)
    .filter(({ name }) => name?.endsWith(`.${group}`) === true)
    .map(({ clientConfig }) => Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8'));
}

/** The hash that the webhooks of InjectorConfig `name` point at; undefined unless all of them agree. */
export function publishedHash(configuration: KubernetesObject | undefined, name: string): string | undefined {
  const hashes = new Set(webhooksOf(configuration).map(({ clientConfig }) => hashIn(clientConfig, name)));
  const [hash] = hashes;
  return hashes.size === 1 ? hash : undefined;
}

function hashIn(clientConfig: Webhook['clientConfig'], name: string): string | undefined {
  const path = clientConfig?.service?.path ?? clientConfig?.url ?? '';
  const hash = /\/([0-9a-f]{8})\/inject$/.exec(path)?.[1];
  return hash !== undefined && path.endsWith(injectPath(name, hash)) ? hash : undefined;
}

function webhooksOf(configuration: KubernetesObject | undefined): Webhook[] {
  const webhooks = configuration?.webhooks;
  return Array.isArray(webhooks) ? (webhooks as Webhook[]) : [];
}
