import type { RolloutPair } from '../../rollout/shadow-report.ts';
import { type ConfigurationRef, parseRoute } from '../../routing/route.ts';
import { noWorkload } from '../../routing/workload-key.ts';
import type { AdmissionRoute } from '../admission/admission-handler.ts';
import type { InjectionTarget } from '../admission/inject-handler.ts';
import { type InjectorSource, podHandler, type PodRouteOptions } from '../admission/pod-routes.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** Who renders pods by both injectors of a rollout, when there is time. */
export interface Comparisons {
  /** Never throws, and waits for nothing. @param body a whole review of the namespace, of which nothing is changed */
  offer(pair: RolloutPair, targets: RolloutTargets, path: string, namespace: string, body: Buffer): void;
}

export interface RolloutRouteOptions extends PodRouteOptions {
  /** Without it nothing is compared. */
  readonly comparisons?: Comparisons;
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
      const target = (ref: ConfigurationRef): InjectionTarget | undefined => {
        const injector = injectors.get(ref.injectorConfig, ref.hash);
        const { injectorConfig: name, hash } = ref;
        return injector && { name, hash, injector, path: `/inject${parsed.suffix}`, annotate: true };
      };
      const [stableTarget, canaryTarget] = [target(stable), target(canary)];
      if (stableTarget === undefined || canaryTarget === undefined) {
        const { injectorConfig, hash } = stableTarget === undefined ? stable : canary;
        return { unavailable: `this replica does not serve configuration ${hash} of ${injectorConfig} (yet)` };
      }
      const targets: RolloutTargets = { stable: stableTarget, canary: canaryTarget };
      const choice = { tag, threshold: shadow ? noWorkload : threshold };
      const handler = podHandler({ target: stableTarget, rollout: { canary: canaryTarget, choice } }, options);
      if (comparisons === undefined) return handler;
      return {
        ...handler,
        afterResponse({ dryRun, namespace }, { track, outcome }, body) {
          // A dry run makes no pod, so it is no evidence.
          if (dryRun) return;
          // A pod that the canary refused is compared too: would the stable one have taken it?
          if (shadow || (track === 'canary' && outcome === 'failed'))
            comparisons.offer({ tag, stable, canary }, targets, path, namespace, body);
        },
      };
    },
  };
}
