/** A reference to one immutable configuration of an injector. */
export interface ConfigurationRef {
  /** metadata.name of the InjectorConfig. */
  readonly injectorConfig: string;
  /** The hash of the configuration, 8 lower-case hex digits. */
  readonly hash: string;
}

/** Reports whether two references name the same configuration. */
export function isSameConfiguration(one: ConfigurationRef, other: ConfigurationRef): boolean {
  return one.injectorConfig === other.injectorConfig && one.hash === other.hash;
}

/** Returns `NAME.HASH`, which identifies a configuration in maps and annotations. */
export function configurationKey({ injectorConfig, hash }: ConfigurationRef): string {
  return `${injectorConfig}.${hash}`;
}

/** A route outside a rollout: every pod gets the same configuration. */
export interface RouteAtRest {
  /** The RevisionTag that owns the webhook; absent if the InjectorConfig owns the webhook. */
  readonly tag?: string;
  readonly stable: ConfigurationRef;
  readonly canary?: undefined;
}

/** The route of a RevisionTag that moves from `stable` to `canary`. */
export interface RolloutRoute {
  readonly tag: string;
  readonly stable: ConfigurationRef;
  readonly canary: ConfigurationRef;
  /** 16 lower-case hex digits. Workloads with a lower rank get `canary`; see `getsCanary`. */
  readonly threshold: string;
  /** Whether all pods get `stable`, while `canary` is only rendered and compared. */
  readonly shadow: boolean;
}

/** The content of a webhook's path, which decides which configuration each pod gets. */
export type Route = RouteAtRest | RolloutRoute;

/** The parts of a request's path. */
export interface RequestRoute {
  readonly route: Route;
  /** The rest of the path: `''`, or `/key/value…`, which Istio allows in injector paths. */
  readonly suffix: string;
}

/** The parts of a webhook's path or URL. */
export interface WebhookRoute {
  readonly route: Route;
  /** The text before the route: `''`, or a URL that may have a path. */
  readonly prefix: string;
}

const hashSyntax = /^[0-9a-f]{8}$/;
const thresholdSyntax = /^[0-9a-f]{16}$/;

/**
 * Writes a route in path format 1: `/revisions/N/HASH/inject`, `/tags/T/N/HASH/inject`, and in a
 * rollout `/tags/T/N/HASH/M/HASH/THRESHOLD/inject` or `…/shadow`.
 */
export function formatRoute(route: Route): string {
  const { tag, stable } = route;
  const start = `${tag === undefined ? '/revisions' : `/tags/${tag}`}/${stable.injectorConfig}/${stable.hash}`;
  if (route.canary === undefined) return `${start}/inject`;
  const { canary, threshold, shadow } = route;
  return `${start}/${canary.injectorConfig}/${canary.hash}/${threshold}/${shadow ? 'shadow' : 'inject'}`;
}

/**
 * Parses the path of a request, with any suffix. Returns undefined if the path is not a route. A
 * hash may be any text: the caller reports unknown configurations as unavailable. A path can be
 * ambiguous if an InjectorConfig is called `inject`; such a path counts as the path of a rollout.
 */
export function parseRoute(path: string): RequestRoute | undefined {
  const parts = path.split('/');
  const found = parts[0] === '' ? readAnyFormat(parts, 1) : undefined;
  if (found === undefined) return undefined;
  const suffix = parts.slice(found.end).map((part) => `/${part}`);
  return { route: found.route, suffix: suffix.join('') };
}

/** Parses the route at the end of a webhook's path or URL. Returns undefined if it is invalid. */
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

/** The fields of a webhook's clientConfig that contain its route. */
export interface RoutedClientConfig {
  readonly url?: string;
  readonly service?: { readonly path?: string };
}

/** Returns the route of a webhook; undefined for the webhook of another product. */
export function routeOf(clientConfig: RoutedClientConfig | undefined): Route | undefined {
  return parseWebhookRoute(clientConfig?.service?.path ?? clientConfig?.url ?? '')?.route;
}

interface FoundRoute {
  readonly route: Route;
  /** The index of the first part after the route. */
  readonly end: number;
}

/** A format of routes in paths. In its Lease, a replica lists the formats that it can read. */
export interface PathFormat {
  readonly name: string;
  readonly write: (route: Route) => string;
  readonly read: (parts: readonly string[], at: number) => FoundRoute | undefined;
}

/** All formats, newest first. Writers use the first that all replicas can read (docs/adr/0017). */
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
