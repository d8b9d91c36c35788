import { getsCanary, rankOf, workloadOfPod } from '../../routing/workload-key.ts';
import type { AdmissionDecision, RolloutTrack, AdmissionRequest } from '../admission/admission-decision.ts';
import {
  decideInjection,
  type InjectionTarget,
  type InjectPod,
  type Surroundings,
} from '../admission/inject-handler.ts';

/** The tag and threshold in a path, which determine the workloads that use the canary. */
export interface TrackChoice {
  readonly tag: string;
  /** 16 lowercase hex digits; see `getsCanary`. */
  readonly threshold: string;
}

/** The two injectors of a rollout. */
export interface RolloutTargets {
  readonly stable: InjectionTarget;
  readonly canary: InjectionTarget;
}

/** Returns the track of the pod's workload, from the request alone. */
export function trackOf({ tag, threshold }: TrackChoice, { object, namespace }: AdmissionRequest): RolloutTrack {
  return getsCanary(rankOf(tag, workloadOfPod(object, namespace)), threshold) ? 'canary' : 'stable';
}

/** Decides a review like the `/revisions` path of the chosen injector, and adds the track. */
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

/** Adds the track to a decision and its audit annotations. */
export function withTrack(decision: AdmissionDecision, track: RolloutTrack): AdmissionDecision {
  return { ...decision, track, auditAnnotations: { ...decision.auditAnnotations, track } };
}
