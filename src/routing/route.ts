/** One immutable configuration of an injector. */
export interface ConfigurationRef {
  /** metadata.name of the InjectorConfig. */
  readonly injectorConfig: string;
  /** The 8 lower-case hex digits of its configuration. */
  readonly hash: string;
}

/** Whether both name the same configuration. */
export function isSameConfiguration(one: ConfigurationRef, other: ConfigurationRef): boolean {
  return one.injectorConfig === other.injectorConfig && one.hash === other.hash;
}

/** Every pod gets the same configuration. */
export interface RouteAtRest {
  /** The RevisionTag whose webhook it is; absent for the InjectorConfig's own. */
  readonly tag?: string;
  readonly stable: ConfigurationRef;
  readonly canary?: undefined;
}

/** The route of a RevisionTag that moves from `stable` to `canary`. */
export interface RolloutRoute {
  readonly tag: string;
  readonly stable: ConfigurationRef;
  readonly canary: ConfigurationRef;
  /** 16 lower-case hex digits: workloads that rank below it get `canary`, see `getsCanary`. */
  readonly threshold: string;
  /** Whether all pods get `stable`, and `canary` is only tried. */
  readonly shadow: boolean;
}

/** What the path of a webhook says: which configuration a pod gets. */
export type Route = RouteAtRest | RolloutRoute;

/** The path of a request, taken apart. */
export interface RequestRoute {
  readonly route: Route;
  /** What follows it: `''`, or `/key/value…` by Istio's rule for paths of injectors. */
  readonly suffix: string;
}

/** The path or URL of a webhook, taken apart. */
export interface WebhookRoute {
  readonly route: Route;
  /** What stands before it: `''`, or a URL with any path of its own. */
  readonly prefix: string;
}

const hashSyntax = /^[0-9a-f]{8}$/;
const thresholdSyntax = /^[0-9a-f]{16}$/;

/**
 * A route as a text, which is also path format 1:
 * `/revisions/N/HASH/inject`, `/tags/T/N/HASH/inject`, and in a rollout `/tags/T/N/HASH/M/HASH/THRESHOLD/inject` or `…/shadow`.
 */
export function formatRoute(route: Route): string {
  const { tag, stable } = route;
  const start = `${tag === undefined ? '/revisions' : `/tags/${tag}`}/${stable.injectorConfig}/${stable.hash}`;
  if (route.canary === undefined) return `${start}/inject`;
  const { canary, threshold, shadow } = route;
  return `${start}/${canary.injectorConfig}/${canary.hash}/${threshold}/${shadow ? 'shadow' : 'inject'}`;
}

/**
 * Reads the path of a request, with any suffix. Hashes may be any text: a configuration that no replica has is unavailable, not unknown.
 * A path that could be both, because its InjectorConfig is called `inject`, is that of a rollout.
 * @returns undefined when the path is no route
 */
export function parseRoute(path: string): RequestRoute | undefined {
  const parts = path.split('/');
  const found = parts[0] === '' ? readAnyFormat(parts, 1) : undefined;
  if (found === undefined) return undefined;
  const suffix = parts.slice(found.end).map((part) => `/${part}`);
  return { route: found.route, suffix: suffix.join('') };
}

/**
 * Reads the route at the end of a webhook's path or URL.
 * @returns undefined when there is none, or when a hash is none
 */
export function parseWebhookRoute(url: string): WebhookRoute | undefined {
  const parts = url.split('/');
  for (let at = 1; at < parts.length; at++) {
    const found = readAnyFormat(parts, at);
    if (found?.end !== parts.length) continue;
    const { stable, canary = stable } = found.route;
    if (!hashSyntax.test(stable.hash) || !hashSyntax.test(canary.hash)) continue;
    return { route: found.route, prefix: parts.slice(0, at).join('/') };
  }
  return undefined;
}

/** The clientConfig of a webhook, as far as its route depends on it. */
export interface RoutedClientConfig {
  readonly url?: string;
  readonly service?: { readonly path?: string };
}

/** The route of a webhook, by its Service's path or its URL; undefined for a webhook that is none of ours. */
export function routeOf(clientConfig: RoutedClientConfig | undefined): Route | undefined {
  return parseWebhookRoute(clientConfig?.service?.path ?? clientConfig?.url ?? '')?.route;
}

interface FoundRoute {
  readonly route: Route;
  /** The index of the part behind it. */
  readonly end: number;
}

/** A way to say a route in the path of a webhook. Its name stands in the Leases of the replicas that can read it. */
export interface PathFormat {
  readonly name: string;
  readonly write: (route: Route) => string;
  readonly read: (parts: readonly string[], at: number) => FoundRoute | undefined;
}

/** What this version reads, the newest first. It writes the first one that every live replica reads (docs/adr/0017). */
export const pathFormats: readonly PathFormat[] = [{ name: '1', write: formatRoute, read: readRoute }];

function readAnyFormat(parts: readonly string[], at: number): FoundRoute | undefined {
  return pathFormats.map(({ read }) => read(parts, at)).find((found) => found !== undefined);
}

function readRoute(parts: readonly string[], at: number): FoundRoute | undefined {
  if (parts[at] === 'revisions') return readAtRest(parts, at + 1, {});
  const tag = parts[at] === 'tags' ? parts[at + 1] : undefined;
  if (tag === undefined || tag === '') return undefined;
  return readRollout(parts, at + 2, tag) ?? readAtRest(parts, at + 2, { tag });
}

function readAtRest(parts: readonly string[], at: number, tag: { readonly tag?: string }): FoundRoute | undefined {
  const stable = readRef(parts, at);
  return stable !== undefined && parts[at + 2] === 'inject' ? { route: { ...tag, stable }, end: at + 3 } : undefined;
}

function readRollout(parts: readonly string[], at: number, tag: string): FoundRoute | undefined {
  const [stable, canary] = [readRef(parts, at), readRef(parts, at + 2)];
  const [threshold = '', mode = ''] = parts.slice(at + 4, at + 6);
  if (stable === undefined || canary === undefined || !thresholdSyntax.test(threshold)) return undefined;
  if (mode !== 'inject' && mode !== 'shadow') return undefined;
  return { route: { tag, stable, canary, threshold, shadow: mode === 'shadow' }, end: at + 6 };
}

function readRef(parts: readonly string[], at: number): ConfigurationRef | undefined {
  const [injectorConfig = '', hash = ''] = parts.slice(at, at + 2);
  return injectorConfig === '' || hash === '' ? undefined : { injectorConfig, hash };
}
