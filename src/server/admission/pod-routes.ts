import type { Injector } from '../../inject/injector.ts';
import { decideRollout } from '../rollout/rollout-targets.ts';
import { onWorker, type ReviewContext } from '../worker/decide-on-worker.ts';
import type { ReviewWorker } from '../worker/review-worker.ts';
import { type ConfigurationRef, parseRoute } from '../../routing/route.ts';
import { textAnswer } from '../http/http-answer.ts';
import type { AdmissionRoute, RouteHandler } from './admission-handler.ts';
import { decideInjection, type InjectionTarget, type InjectPod, type Surroundings } from './inject-handler.ts';

/** The injectors in memory, filled by whoever watches the hashed ConfigMaps. */
export interface InjectorSource {
  /** The injector of InjectorConfig `name` whose configuration has the hash; undefined also while nothing has been read yet. */
  get(name: string, hash8: string): Injector | undefined;
}

export interface PodRouteOptions {
  /** Reads from memory what it is now. */
  readonly surroundings?: () => Surroundings;
  readonly inject?: InjectPod;
  /** Where heavy reviews are decided; without it this thread decides all. */
  readonly worker?: ReviewWorker;
}

/** Decides pods for the target that a path names, or for the two of a rollout. */
export function podHandler(
  targets: Pick<ReviewContext, 'target' | 'rollout'>,
  { surroundings = () => ({}), inject, worker }: PodRouteOptions,
): RouteHandler {
  const { target, rollout } = targets;
  const dependencies = (): readonly unknown[] => {
    const { nodes, proxyConfigs } = surroundings();
    return [target.injector, rollout?.canary.injector, nodes, proxyConfigs];
  };
  return {
    handler: (request) =>
      rollout === undefined
        ? decideInjection(target, request, surroundings(), inject)
        : decideRollout({ stable: target, canary: rollout.canary }, rollout.choice, request, surroundings(), inject),
    dependencies,
    ...(worker && { worker: onWorker(worker, { ...targets, surroundings, dependencies }) }),
  };
}

/**
 * `/revisions/N/<hash8>/inject`, and `/tags/T/N/<hash8>/inject` for those who follow tag T: pods for the configuration `hash8` of InjectorConfig N,
 * which get the same by either way.
 */
export function revisionRoute(injectors: InjectorSource, options: PodRouteOptions = {}): AdmissionRoute {
  return {
    kind: 'revision',
    resolve(path) {
      const parsed = parseRoute(path);
      if (parsed === undefined || parsed.route.canary !== undefined) return undefined;
      const target = findTarget(injectors, parsed.route.stable, parsed.suffix);
      return 'unavailable' in target ? target : podHandler({ target }, options);
    },
  };
}

/** A configuration that a path names. One that is not in memory is unavailable, never not found: another replica may have it already, or still. */
export function findTarget(
  injectors: InjectorSource,
  { injectorConfig: name, hash }: ConfigurationRef,
  suffix: string,
): InjectionTarget | { readonly unavailable: string } {
  const injector = injectors.get(name, hash);
  if (injector === undefined)
    return { unavailable: `this replica does not serve configuration ${hash} of ${name} (yet)` };
  return { name, hash, injector, path: `/inject${suffix}`, annotate: true };
}

/** The one injector of a server without an operator, and a name for it in metrics and logs. */
export interface CurrentInjector {
  readonly name: string;
  /** Of the configuration that is served now. */
  readonly hash: string;
  readonly injector: Injector;
}

/**
 * `/inject[/k/v…]`: Istio's own path, for a server that has one configuration. Pods do not get the annotation that names a configuration of the operator.
 * @param current what is served now; undefined while nothing has been loaded, which is answered as unavailable
 */
export function injectRoute(current: () => CurrentInjector | undefined, options: PodRouteOptions): AdmissionRoute {
  return {
    kind: 'inject',
    resolve(path) {
      if (path !== '/inject' && !path.startsWith('/inject/')) return undefined;
      const served = current();
      if (served === undefined) return { unavailable: 'no configuration has been loaded yet' };
      return podHandler({ target: { ...served, path, annotate: false } }, options);
    },
  };
}

/** `GET /readyz` on the webhook's own port, for a server without a second one. */
export function readyRoute(problem: () => string | undefined): AdmissionRoute {
  const page = () => {
    const missing = problem();
    return missing === undefined ? textAnswer(200, 'ok') : textAnswer(503, missing);
  };
  return { kind: 'ready', resolve: (path) => (path === '/readyz' ? { page } : undefined) };
}
