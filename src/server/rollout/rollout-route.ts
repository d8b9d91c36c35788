import { parseRoute } from '../../routing/route.ts';
import { noWorkload } from '../../routing/workload-key.ts';
import type { AdmissionRoute } from '../admission/admission-handler.ts';
import { findTarget, type InjectorSource, podHandler, type PodRouteOptions } from '../admission/pod-routes.ts';
import type { RolloutComparisons } from './rollout-comparisons.ts';

export interface RolloutRouteOptions extends PodRouteOptions {
  /** Renders pods with both injectors in the background. If unset, no pods are compared. */
  readonly comparisons?: Pick<RolloutComparisons, 'offer'>;
}

/**
 * Serves `/tags/T/N/<hash8>/M/<hash8>/<threshold>/inject`: the rank of the pod's workload and the
 * threshold determine whether the pod gets N (stable) or M (canary). With `…/shadow` all pods get
 * N, and M is rendered after the answer. Both configurations must be in memory, so that all
 * replicas give the same answers. The path contains the whole state of the rollout.
 */
export function rolloutRoute(injectors: InjectorSource, options: RolloutRouteOptions = {}): AdmissionRoute {
  const { comparisons } = options;
  return {
    kind: 'rollout',
    resolve(path) {
      const parsed = parseRoute(path);
      if (parsed?.route.canary === undefined) return undefined;
      const { tag, stable, canary, threshold, shadow } = parsed.route;
      const target = findTarget(injectors, parsed.route, stable, parsed.suffix);
      if ('unavailable' in target) return target;
      const canaryTarget = findTarget(injectors, parsed.route, canary, parsed.suffix);
      if ('unavailable' in canaryTarget) return canaryTarget;
      const choice = { tag, threshold: shadow ? noWorkload : threshold };
      const handler = podHandler({ target, rollout: { canary: canaryTarget, choice } }, options);
      if (comparisons === undefined) return handler;
      return {
        ...handler,
        afterResponse({ dryRun, namespace }, { track, outcome }, body) {
          // Ignore dry runs, because they create no pod.
          if (dryRun) return;
          // If the canary refused the pod, find out whether the stable configuration accepts it.
          if (shadow || (track === 'canary' && outcome === 'failed'))
            comparisons.offer({ tag, stable, canary }, { stable: target, canary: canaryTarget }, path, namespace, body);
        },
      };
    },
  };
}
