import { parseRoute } from '../../routing/route.ts';
import { noWorkload } from '../../routing/workload-key.ts';
import type { AdmissionRoute } from '../admission/admission-handler.ts';
import { findTarget, type InjectorSource, podHandler, type PodRouteOptions } from '../admission/pod-routes.ts';
import type { RolloutComparisons } from './rollout-comparisons.ts';

export interface RolloutRouteOptions extends PodRouteOptions {
  /** Renders pods by both injectors, when there is time; without it nothing is compared. */
  readonly comparisons?: Pick<RolloutComparisons, 'offer'>;
}

/**
 * `/tags/T/N/<hash8>/M/<hash8>/<threshold>/inject`: in the middle of a rollout, the pod's workload and the threshold decide whether a pod gets N, the
 * stable one, or M, the canary. `…/shadow` gives N to all, and M is only tried, after the answer. Nothing of a rollout is kept here: the path says
 * all. Both configurations must be in memory, so that no workload is better off on a replica that knows only one.
 */
export function rolloutRoute(injectors: InjectorSource, options: RolloutRouteOptions = {}): AdmissionRoute {
  const { comparisons } = options;
  return {
    kind: 'rollout',
    resolve(path) {
      const parsed = parseRoute(path);
      if (parsed?.route.canary === undefined) return undefined;
      const { tag, stable, canary, threshold, shadow } = parsed.route;
      const target = findTarget(injectors, stable, parsed.suffix);
      if ('unavailable' in target) return target;
      const canaryTarget = findTarget(injectors, canary, parsed.suffix);
      if ('unavailable' in canaryTarget) return canaryTarget;
      const choice = { tag, threshold: shadow ? noWorkload : threshold };
      const handler = podHandler({ target, rollout: { canary: canaryTarget, choice } }, options);
      if (comparisons === undefined) return handler;
      return {
        ...handler,
        afterResponse({ dryRun, namespace }, { track, outcome }, body) {
          // A dry run makes no pod, so it is no evidence.
          if (dryRun) return;
          // A pod that the canary refused is compared too: would the stable one have taken it?
          if (shadow || (track === 'canary' && outcome === 'failed'))
            comparisons.offer({ tag, stable, canary }, { stable: target, canary: canaryTarget }, path, namespace, body);
        },
      };
    },
  };
}
