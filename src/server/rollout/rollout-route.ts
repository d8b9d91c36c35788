import type { RolloutPair } from '../../api/shadow-report.ts';
import { noWorkload } from '../../rollout/workload-key.ts';
import type { AdmissionDecision } from '../admission-decision.ts';
import type { AdmissionRoute } from '../admission-handler.ts';
import type { AdmissionRequest } from '../admission-request.ts';
import type { InjectPod, PodSurroundings } from '../inject-handler.ts';
import type { InjectorSource } from '../injector-source.ts';
import type { HeavyLane } from '../lane/heavy-lane.ts';
import { laneOf } from '../lane/target-lane.ts';
import { decideRollout, type RolloutTargets } from './rollout-targets.ts';

/** Who renders pods by both injectors of a rollout, when there is time. */
export interface Comparisons {
  /** Never throws, and waits for nothing. @param body a whole review of the namespace, of which nothing is changed */
  offer(pair: RolloutPair, targets: RolloutTargets, path: string, namespace: string, body: Buffer): void;
}

export interface RolloutRouteOptions {
  readonly surroundings?: PodSurroundings;
  readonly inject?: InjectPod;
  /** Where heavy reviews are decided; without it this thread decides all. */
  readonly lane?: HeavyLane;
  /** Without it nothing is compared. */
  readonly comparisons?: Comparisons;
}

const rolloutPath =
  /^\/tags\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/([0-9a-f]{16})\/(inject|shadow)((?:\/.*)?)$/s;

/**
 * `/tags/T/N/<hash8>/M/<hash8>/<threshold>/inject`: in the middle of a rollout, the pod's workload and the threshold decide whether a pod gets N, the
 * stable one, or M, the canary. `…/shadow` gives N to all, and M is only tried, after the answer. Nothing of a rollout is kept here: the path says
 * all. Both configurations must be in memory, so that no workload is better off on a replica that knows only one.
 */
export function rolloutRoute(injectors: InjectorSource, options: RolloutRouteOptions = {}): AdmissionRoute {
  const { surroundings = {}, inject, lane, comparisons } = options;
  return {
    kind: 'rollout',
    resolve(path) {
      const match = rolloutPath.exec(path);
      if (match === null) return undefined;
      const [, tag = '', name = '', hash = '', otherName = '', otherHash = '', threshold = '', way, rest = ''] = match;
      const stable = injectors.get(name, hash);
      const canary = injectors.get(otherName, otherHash);
      if (stable === undefined || canary === undefined) {
        const lacking = stable === undefined ? `${hash} of ${name}` : `${otherHash} of ${otherName}`;
        return { unavailable: `this replica does not serve configuration ${lacking} (yet)` };
      }
      const shared = { path: `/inject${rest}`, annotate: true };
      const targets: RolloutTargets = {
        stable: { name, hash, injector: stable, ...shared },
        canary: { name: otherName, hash: otherHash, injector: canary, ...shared },
      };
      const isShadow = way === 'shadow';
      const choice = { tag, threshold: isShadow ? noWorkload : threshold };
      const dependencies = ({ namespace }: AdmissionRequest): readonly unknown[] => [
        stable,
        canary,
        surroundings.nodes?.(),
        surroundings.namespaceMetadata?.(namespace),
        surroundings.proxyConfigs?.(namespace),
      ];
      const pair = { tag, stable: { name, hash }, canary: { name: otherName, hash: otherHash } };
      const compare = (
        { dryRun, namespace }: AdmissionRequest,
        { track, outcome }: AdmissionDecision,
        body: Buffer,
      ): void => {
        // A dry run makes no pod, so it is no evidence.
        if (dryRun) return;
        // A pod that the canary refused is compared too: would the stable one have taken it?
        if (isShadow || (track === 'canary' && outcome === 'failed'))
          comparisons?.offer(pair, targets, path, namespace, body);
      };
      return {
        handler: (request) => decideRollout(targets, choice, request, surroundings, inject),
        dependencies,
        ...(comparisons === undefined ? {} : { told: compare }),
        ...(lane === undefined
          ? {}
          : {
              lane: laneOf(lane, {
                target: targets.stable,
                rollout: { canary: targets.canary, choice },
                surroundings,
                dependencies,
              }),
            }),
      };
    },
  };
}
