import type { Injector } from '../../inject/injector.ts';
import { decideRollout } from '../rollout/rollout-targets.ts';
import { decideOnWorker, type ReviewContext } from '../worker/decide-on-worker.ts';
import type { ReviewWorker } from '../worker/review-worker.ts';
import { gateOf, objectNames, tagWebhookConfiguration } from '../../api/names.ts';
import { configurationKey, type ConfigurationRef, parseRoute, type Route } from '../../routing/route.ts';
import { textAnswer } from '../http/http-answer.ts';
import type { AdmissionRoute, RouteHandler } from './admission-handler.ts';
import { decideInjection, type InjectionTarget, type InjectPod, type Surroundings } from './inject-handler.ts';

/** The loaded injectors by `configurationKey`, filled by a watch on the hashed ConfigMaps. */
export type InjectorSource = Pick<ReadonlyMap<string, Injector>, 'get'>;

export interface PodRouteOptions {
  readonly surroundings?: () => Surroundings;
  readonly inject?: InjectPod;
  /** Decides heavy reviews. If unset, this thread decides them. */
  readonly worker?: ReviewWorker;
}

/** Returns a handler for the target of a path, or for both targets of a rollout. */
export function podHandler(
  targets: Pick<ReviewContext, 'target' | 'rollout'>,
  { surroundings = () => ({}), inject, worker }: PodRouteOptions,
): RouteHandler {
  const { target, rollout } = targets;
  const dependencies = (): readonly unknown[] => {
    const { nodes, proxyConfigs, namespaces } = surroundings();
    return [target.injector, rollout?.canary.injector, nodes, proxyConfigs, namespaces];
  };
  return {
    handler: (request) =>
      rollout === undefined
        ? decideInjection(target, request, surroundings(), inject)
        : decideRollout({ stable: target, canary: rollout.canary }, rollout.choice, request, surroundings(), inject),
    dependencies,
    ...(worker && {
      worker: (review) => decideOnWorker(worker, { ...targets, surroundings, dependencies }, review),
    }),
  };
}

/** Serves `/revisions/N/<hash8>/inject` and `/tags/T/N/<hash8>/inject` with equal answers. */
export function revisionRoute(injectors: InjectorSource, options: PodRouteOptions = {}): AdmissionRoute {
  return {
    kind: 'revision',
    resolve(path) {
      const parsed = parseRoute(path);
      if (parsed === undefined || parsed.route.canary !== undefined) return undefined;
      const target = findTarget(injectors, parsed.route, parsed.route.stable, parsed.suffix);
      return 'unavailable' in target ? target : podHandler({ target }, options);
    },
  };
}

/** Returns the target of a path; `unavailable` if this replica has not loaded its injector. */
export function findTarget(
  injectors: InjectorSource,
  { tag }: Pick<Route, 'tag'>,
  configuration: ConfigurationRef,
  suffix: string,
): InjectionTarget | { readonly unavailable: string } {
  const { injectorConfig: name, hash } = configuration;
  const injector = injectors.get(configurationKey(configuration));
  if (injector === undefined)
    return { unavailable: `this replica has not loaded configuration ${hash} of InjectorConfig ${name}` };
  const webhook = tag === undefined ? objectNames(name).webhookConfiguration : tagWebhookConfiguration(tag);
  return { name, hash, injector, path: `/inject${suffix}`, annotate: true, gate: gateOf(webhook) };
}

/** The injector of a server without an operator. */
export interface CurrentInjector {
  /** The name in metrics and logs. */
  readonly name: string;
  readonly hash: string;
  readonly injector: Injector;
}

/**
 * Serves Istio's path `/inject[/k/v…]`, for a server with one configuration. Adds no annotation to
 * pods.
 * @param current returns the injector; undefined before it is loaded, which gives a 503
 */
export function injectRoute(current: () => CurrentInjector | undefined, options: PodRouteOptions): AdmissionRoute {
  return {
    kind: 'inject',
    resolve(path) {
      if (path !== '/inject' && !path.startsWith('/inject/')) return undefined;
      const served = current();
      if (served === undefined) return { unavailable: 'this server has not loaded its configuration' };
      return podHandler({ target: { ...served, path, annotate: false } }, options);
    },
  };
}

/** Serves `GET /readyz` on the webhook's port, for a server without a health port. */
export function readyRoute(problem: () => string | undefined): AdmissionRoute {
  const page = () => {
    const missing = problem();
    return missing === undefined ? textAnswer(200, 'ok') : textAnswer(503, missing);
  };
  return { kind: 'ready', resolve: (path) => (path === '/readyz' ? { page } : undefined) };
}
