import { inject as injectPod } from '../../inject/inject.ts';
import type { InjectionResult } from '../../inject/injection-result.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';
import { injectionRecords } from '../../inject/pod/injection-records.ts';
import type { AdmissionRequest } from '../admission/admission-decision.ts';
import {
  type InjectionTarget,
  type InjectPod,
  notAPodCreation,
  requestFor,
  type Surroundings,
} from '../admission/inject-handler.ts';
import { changedFields, joined } from './changed-fields.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** The result of comparing the canary's pod with the stable pod. */
export type Comparison =
  | { readonly outcome: 'same' }
  /** Both injectors accept the pod. */
  | { readonly outcome: 'changed'; readonly fields: readonly string[] }
  /** Only the canary refuses the pod. */
  | { readonly outcome: 'failed'; readonly error: string };

/**
 * Renders a pod with both injectors of a rollout. A pod that both refuse counts as `same`, as do
 * pods that differ only in the name of the revision and in records of the injection.
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
    inject(injector, requestFor(pod, namespace, path, surroundings));
  const [before, after] = [injectedBy(stable), injectedBy(canary)];
  if (after.outcome === 'failed') {
    if (before.outcome === 'failed') return { outcome: 'same' };
    return { outcome: 'failed', error: `${after.reason}: ${after.message}` };
  }
  const podOf = (result: InjectionResult): JsonObject => (result.outcome === 'injected' ? result.pod : pod);
  const [old, now] = [podOf(before), podOf(after)];
  const records = injectionRecords({ pod: old, injector: stable.injector }, { pod: now, injector: canary.injector });
  const hidden = new Set(records.map(([map, key]) => joined(`metadata.${map}`, key)));
  const fields = changedFields(old, now).filter((field) => !hidden.has(field));
  // List the outcomes first if only one of the two injectors injects the pod.
  if (before.outcome !== after.outcome) fields.unshift(`(${before.outcome} → ${after.outcome})`);
  return fields.length === 0 ? { outcome: 'same' } : { outcome: 'changed', fields };
}
