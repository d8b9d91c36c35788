import { group } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';

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

/** Every configuration of InjectorConfig `name` that some webhook of a configuration points at. */
export function namedHashes(configuration: KubernetesObject, name: string): string[] {
  return webhooksOf(configuration).flatMap(({ clientConfig }) => hashIn(clientConfig, name) ?? []);
}

/** By way of the InjectorConfig itself, or of a tag. */
const injectPaths = /\/(?:revisions|tags\/[^/]+)\/([^/]+)\/([0-9a-f]{8})\/inject$/;

function hashIn(clientConfig: Webhook['clientConfig'], name: string): string | undefined {
  const path = clientConfig?.service?.path ?? clientConfig?.url ?? '';
  const [, named, hash] = injectPaths.exec(path) ?? [];
  return named === name ? hash : undefined;
}

function webhooksOf(configuration: KubernetesObject | undefined): Webhook[] {
  const webhooks = configuration?.webhooks;
  return Array.isArray(webhooks) ? (webhooks as Webhook[]) : [];
}
