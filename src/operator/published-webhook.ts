import { group } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { rolloutOfPath, type TagRollout } from '../api/names.ts';

interface Webhook {
  name?: string;
  clientConfig?: { caBundle?: string; url?: string; service?: { path?: string } };
}

/** The caBundles of a webhook configuration as PEM, one for each of our webhooks; what somebody added calls somebody else. */
export function caBundlesOf(configuration: KubernetesObject | undefined): string[] {
  return webhooksOf(configuration)
    .filter(isOurs)
    .map(({ clientConfig }) => Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8'));
}

/**
 * The hash that the webhooks of InjectorConfig `name` point at, in a rollout that of its stable side; undefined unless all of them agree.
 */
export function publishedHash(configuration: KubernetesObject | undefined, name: string): string | undefined {
  const hashes = new Set(webhooksOf(configuration).map((webhook) => namedBy(webhook).find(isOf(name))?.hash));
  const [hash] = hashes;
  return hashes.size === 1 ? hash : undefined;
}

/** Every configuration of InjectorConfig `name` that some webhook of a configuration points at, as either side of a rollout too. */
export function namedHashes(configuration: KubernetesObject, name: string): string[] {
  return webhooksOf(configuration)
    .flatMap(namedBy)
    .filter(isOf(name))
    .map(({ hash }) => hash);
}

/** The rollout that the webhooks of a configuration say; undefined at rest, and unless all of ours agree. */
export function rolloutInForce(configuration: KubernetesObject | undefined): TagRollout | undefined {
  const paths = new Set(webhooksOf(configuration).filter(isOurs).map(pathOf));
  const [path = ''] = paths;
  return paths.size === 1 ? rolloutOfPath(path) : undefined;
}

/** By way of the InjectorConfig itself, or of a tag. */
const injectPaths = /\/(?:revisions|tags\/[^/]+)\/([^/]+)\/([0-9a-f]{8})\/inject$/;

/** The configurations that a webhook's path names; the one that pods get at rest, or by default, comes first. */
function namedBy(webhook: Webhook): { readonly name: string; readonly hash: string }[] {
  const path = pathOf(webhook);
  const rollout = rolloutOfPath(path);
  if (rollout !== undefined) return [rollout.stable, rollout.canary];
  const [, name, hash] = injectPaths.exec(path) ?? [];
  return name === undefined || hash === undefined ? [] : [{ name, hash }];
}

function isOf(name: string): (named: { readonly name: string }) => boolean {
  return (named) => named.name === name;
}

function pathOf({ clientConfig }: Webhook): string {
  return clientConfig?.service?.path ?? clientConfig?.url ?? '';
}

function isOurs({ name }: Webhook): boolean {
  return name?.endsWith(`.${group}`) === true;
}

function webhooksOf(configuration: KubernetesObject | undefined): Webhook[] {
  const webhooks = configuration?.webhooks;
  return Array.isArray(webhooks) ? (webhooks as Webhook[]) : [];
}
