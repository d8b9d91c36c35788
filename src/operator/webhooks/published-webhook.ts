import { isDeepStrictEqual } from 'node:util';
import { group } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { type ConfigurationRef, type RolloutRoute, routeOf } from '../../routing/route.ts';

/** The endpoint and the CA bundle of a webhook (admissionregistration.k8s.io/v1). */
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

/** Returns our webhooks, recognized by their names. Other clients may have added webhooks. */
export function ourWebhooksOf(configuration: KubernetesObject | undefined): Webhook[] {
  return webhooksOf(configuration).filter(({ name }) => name?.endsWith(`.${group}`) === true);
}

/** Returns the caBundle of each of our webhooks, as PEM. */
export function caBundlesOf(configuration: KubernetesObject | undefined): string[] {
  return ourWebhooksOf(configuration).map(caBundleOf);
}

/** Returns the hash of InjectorConfig `name` if all paths name the same hash (stable first). */
export function publishedHash(configuration: KubernetesObject | undefined, name: string): string | undefined {
  const hashes = new Set(webhooksOf(configuration).map((webhook) => namedBy(webhook).find(isOf(name))?.hash));
  const [hash] = hashes;
  return hashes.size === 1 ? hash : undefined;
}

/** Returns all hashes of InjectorConfig `name` that the paths name, as stable or as canary. */
export function namedHashes(configuration: KubernetesObject, name: string): string[] {
  return webhooksOf(configuration)
    .flatMap(namedBy)
    .filter(isOf(name))
    .map(({ hash }) => hash);
}

/** Returns the rollout in the paths; undefined if there is no canary, or if our webhooks differ. */
export function liveRollout(configuration: KubernetesObject | undefined): RolloutRoute | undefined {
  const routes = ourWebhooksOf(configuration).map(({ clientConfig }) => routeOf(clientConfig));
  const [route] = routes;
  return route?.canary !== undefined && routes.every((each) => isDeepStrictEqual(each, route)) ? route : undefined;
}

/** Returns the configurations that a webhook's path names, stable first. */
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
