import { isDeepStrictEqual } from 'node:util';
import { group } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { type ConfigurationRef, type RolloutRoute, routeOf } from '../../routing/route.ts';

/** The parts of an admissionregistration.k8s.io/v1 webhook that say whom the API server calls and whom it trusts. */
export interface Webhook {
  readonly name?: string;
  readonly clientConfig?: {
    readonly caBundle?: string;
    readonly url?: string;
    readonly service?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly path?: string;
      readonly port?: number;
    };
  };
}

export function webhooksOf(configuration: KubernetesObject | undefined): Webhook[] {
  const webhooks = configuration?.webhooks;
  return Array.isArray(webhooks) ? (webhooks as Webhook[]) : [];
}

/** The webhooks of a configuration that are ours; what somebody added calls another injector. */
export function ourWebhooksOf(configuration: KubernetesObject | undefined): Webhook[] {
  return webhooksOf(configuration).filter(({ name }) => name?.endsWith(`.${group}`) === true);
}

/** The caBundles of a webhook configuration as PEM, one for each of our webhooks. */
export function caBundlesOf(configuration: KubernetesObject | undefined): string[] {
  return ourWebhooksOf(configuration).map(caBundleOf);
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
export function liveRollout(configuration: KubernetesObject | undefined): RolloutRoute | undefined {
  const routes = ourWebhooksOf(configuration).map(({ clientConfig }) => routeOf(clientConfig));
  const [route] = routes;
  return route?.canary !== undefined && routes.every((each) => isDeepStrictEqual(each, route)) ? route : undefined;
}

/** The configurations that a webhook's path names; the one that pods get at rest, or by default, comes first. */
function namedBy({ clientConfig }: Webhook): readonly ConfigurationRef[] {
  const route = routeOf(clientConfig);
  if (route === undefined) return [];
  return route.canary === undefined ? [route.stable] : [route.stable, route.canary];
}

function isOf(name: string): (named: ConfigurationRef) => boolean {
  return ({ injectorConfig }) => injectorConfig === name;
}

export function caBundleOf({ clientConfig }: Webhook): string {
  return Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8');
}
