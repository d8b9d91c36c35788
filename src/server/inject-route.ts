import type { Injector } from '../inject/injector.ts';
import type { AdmissionRoute } from './admission-handler.ts';
import { decideInjection, type PodSurroundings } from './inject-handler.ts';
import type { HeavyLane } from './lane/heavy-lane.ts';
import { laneOf } from './lane/target-lane.ts';

const injectPath = /^\/inject(?:\/.*)?$/s;

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
 * @param lane where heavy reviews are decided; without it this thread decides all
 */
export function injectRoute(
  current: () => CurrentInjector | undefined,
  surroundings: PodSurroundings,
  lane?: HeavyLane,
): AdmissionRoute {
  return {
    kind: 'inject',
    resolve(path) {
      if (!injectPath.test(path)) return undefined;
      const served = current();
      if (served === undefined) return { unavailable: 'no configuration has been loaded yet' };
      const target = { ...served, path, annotate: false };
      const dependencies = (): readonly unknown[] => [served.injector, surroundings.nodes?.()];
      return {
        handler: (request) => decideInjection(target, request, surroundings),
        dependencies,
        ...(lane === undefined ? {} : { lane: laneOf(lane, { target, surroundings, dependencies }) }),
      };
    },
  };
}
