import type { AdmissionRoute } from './admission-handler.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { decideInjection, type InjectPod, type PodSurroundings } from './inject-handler.ts';
import type { InjectorSource } from './injector-source.ts';
import type { HeavyLane } from './lane/heavy-lane.ts';
import { laneOf } from './lane/target-lane.ts';

const injectPath = /^\/(?:revisions|tags\/[^/]+)\/([^/]+)\/([^/]+)(\/inject(?:\/.*)?)$/s;
/** A path of a rollout (`rollout/rollout-route.ts`), to an InjectorConfig that is called `inject`. */
const rolloutPath = /^\/tags\/[^/]+\/[^/]+\/[^/]+\/inject\/[^/]+\/[0-9a-f]{16}\/(?:inject|shadow)(?:\/|$)/;

/**
 * `/revisions/N/<hash8>/inject`, and `/tags/T/N/<hash8>/inject` for those who follow tag T: pods for the configuration `hash8` of InjectorConfig N,
 * which get the same by either way. A configuration that is not in memory is unavailable here,
 * never not found: another replica may have it already, or still.
 * @param lane where heavy reviews are decided; without it this thread decides all
 */
export function revisionRoute(
  injectors: InjectorSource,
  surroundings: PodSurroundings = {},
  inject?: InjectPod,
  lane?: HeavyLane,
): AdmissionRoute {
  return {
    kind: 'revision',
    resolve(path) {
      const match = injectPath.exec(path);
      if (match === null) return undefined;
      const [, name = '', hash = '', rest = ''] = match;
      if (rest !== '/inject' && rolloutPath.test(path)) return undefined;
      const injector = injectors.get(name, hash);
      if (injector === undefined)
        return { unavailable: `this replica does not serve configuration ${hash} of ${name} (yet)` };
      const target = { name, hash, injector, path: rest, annotate: true };
      const dependencies = ({ namespace }: AdmissionRequest): readonly unknown[] => [
        injector,
        surroundings.nodes?.(),
        surroundings.namespaceMetadata?.(namespace),
        surroundings.proxyConfigs?.(namespace),
      ];
      return {
        handler: (request) => decideInjection(target, request, surroundings, inject),
        dependencies,
        ...(lane === undefined ? {} : { lane: laneOf(lane, { target, surroundings, dependencies }) }),
      };
    },
  };
}
