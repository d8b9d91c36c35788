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

/** The result of comparing the canary's pod with the stable pod. */
export type Comparison =
  | { readonly outcome: 'same' }
  /** Both injectors accept the pod. */
  | { readonly outcome: 'changed'; readonly fields: readonly string[] }
  /** Only the canary refuses the pod. */
  | { readonly outcome: 'failed'; readonly error: string };

/**
 * Renders a pod with both injectors of a rollout. A pod that both refuse counts as `same`.
 * @returns undefined if the request does not create a pod
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
  // List the outcomes first if only one of the two injectors injects the pod.
  if (before.outcome !== after.outcome) fields.unshift(`(${before.outcome} → ${after.outcome})`);
  return fields.length === 0 ? { outcome: 'same' } : { outcome: 'changed', fields };
}
