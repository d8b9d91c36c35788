import { getsCanary, rankOf, workloadOfPod } from '../../routing/workload-key.ts';
import type { AdmissionDecision, RolloutTrack, AdmissionRequest } from '../admission/admission-decision.ts';
import {
  decideInjection,
  type InjectionTarget,
  type InjectPod,
  type Surroundings,
} from '../admission/inject-handler.ts';

/** Who gets the canary, as a path says it. */
export interface TrackChoice {
  readonly tag: string;
  /** 16 lower-case hex digits, see `getsCanary`. */
  readonly threshold: string;
}

/** The two injectors of a rollout. */
export interface RolloutTargets {
  readonly stable: InjectionTarget;
  readonly canary: InjectionTarget;
}

/** What the pod's workload gets; told from the request alone, the same for all its pods. */
export function trackOf({ tag, threshold }: TrackChoice, { object, namespace }: AdmissionRequest): RolloutTrack {
  return getsCanary(rankOf(tag, workloadOfPod(object, namespace)), threshold) ? 'canary' : 'stable';
}

/** Decides a review in a rollout: as `/revisions` of the chosen injector would, and says which it was. */
export function decideRollout(
  targets: RolloutTargets,
  choice: TrackChoice,
  request: AdmissionRequest,
  surroundings: Surroundings,
  inject?: InjectPod,
): AdmissionDecision {
  const track = trackOf(choice, request);
  return withTrack(decideInjection(targets[track], request, surroundings, inject), track);
}

/** For metrics, and for the audit log. */
export function withTrack(decision: AdmissionDecision, track: RolloutTrack): AdmissionDecision {
  return { ...decision, track, auditAnnotations: { ...decision.auditAnnotations, track } };
}
