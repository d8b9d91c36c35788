import { inject as injectPod } from '../../inject/inject.ts';
import type { InjectionResult } from '../../inject/injection-result.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import type { AdmissionRequest } from '../admission/admission-decision.ts';
import {
  type InjectionTarget,
  type InjectPod,
  notAPodCreation,
  type Surroundings,
} from '../admission/inject-handler.ts';
import { changedFields } from './changed-fields.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** How the canary's pod compares with the stable one's. */
export type Comparison =
  | { readonly outcome: 'same' }
  /** Both are accepted. */
  | { readonly outcome: 'changed'; readonly fields: readonly string[] }
  /** Only the canary refuses the pod. */
  | { readonly outcome: 'failed'; readonly error: string };

/**
 * Renders a pod by both injectors of a rollout. A pod that the stable one refuses as well says nothing against the canary.
 * @returns undefined for what is not the creation of a pod
 */
export function compareTracks(
  { stable, canary }: RolloutTargets,
  request: AdmissionRequest,
  surroundings: Surroundings,
  inject: InjectPod = injectPod,
): Comparison | undefined {
  const { object: pod, namespace } = request;
  if (notAPodCreation(request) !== undefined || !isJsonObject(pod)) return undefined;
  const injectedBy = ({ injector, path }: InjectionTarget): InjectionResult =>
    inject(injector, { pod, namespace, path, ...surroundings });
  const [before, after] = [injectedBy(stable), injectedBy(canary)];
  if (after.outcome === 'failed') {
    if (before.outcome === 'failed') return { outcome: 'same' };
    return { outcome: 'failed', error: `${after.reason}: ${after.message}` };
  }
  const podOf = (result: InjectionResult): unknown => (result.outcome === 'injected' ? result.pod : pod);
  const fields = changedFields(podOf(before), podOf(after));
  // That a pod is injected by one of the two only is more than the fields tell.
  if (before.outcome !== after.outcome) fields.unshift(`(${before.outcome} → ${after.outcome})`);
  return fields.length === 0 ? { outcome: 'same' } : { outcome: 'changed', fields };
}
