import type { AdmissionRoute } from './admission-handler.ts';
import { decideInjection, type InjectPod, type PodSurroundings } from './inject-handler.ts';
import type { InjectorSource } from './injector-source.ts';

const revisionPath = /^\/revisions\/([^/]+)\/([^/]+)(\/inject(?:\/.*)?)$/s;

/**
 * `/revisions/N/<hash8>/inject`: pods for the configuration `hash8` of InjectorConfig N. A configuration that is not in memory is unavailable here,
 * never not found: another replica may have it already, or still.
 */
export function revisionRoute(
  injectors: InjectorSource,
  surroundings: PodSurroundings = {},
  inject?: InjectPod,
): AdmissionRoute {
  return {
    kind: 'revision',
    resolve(path) {
      const match = revisionPath.exec(path);
      if (match === null) return undefined;
      const [, name = '', hash = '', rest = ''] = match;
      const injector = injectors.get(name, hash);
      if (injector === undefined)
        return { unavailable: `this replica does not serve configuration ${hash} of ${name} (yet)` };
      const target = { name, hash, injector, path: rest, annotate: true };
      return {
        handler: (request) => decideInjection(target, request, surroundings, inject),
        dependencies: ({ namespace }) => [
          injector,
          surroundings.nodes?.(),
          surroundings.namespaceMetadata?.(namespace),
          surroundings.proxyConfigs?.(namespace),
        ],
      };
    },
  };
}
