import type { RolloutPlace, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { isSameConfiguration, type RolloutRoute } from '../../routing/route.ts';

/** What the cluster holds of a tag's rollout. */
export interface RolloutTraces {
  /** `status.rollout`, written before the path. */
  readonly state: RolloutState | undefined;
  /** Where the webhook leads by default. */
  readonly place: RolloutPlace;
  /** What its path says of a rollout. */
  readonly live: RolloutRoute | undefined;
}

/**
 * Where a rollout stands, from what a leader finds. A state is written before the path that it stands for, so a path that is behind is what a
 * process which ended too early has left: it has to be finished. A path that no state explains (the status was lost, or restored from long ago)
 * is believed: undefined then, which begins where it leads.
 */
export function knownState({ state, place, live }: RolloutTraces): RolloutState | undefined {
  if (state === undefined) return undefined;
  if (isPromotion(state, live)) return state;
  if (state.stable.injectorConfig !== place.injectorConfig) return undefined;
  if (live === undefined || state.canary === undefined)
    return state.phase === 'Idle' && live !== undefined ? undefined : state;
  return withShare(state, live);
}

/** No workload that gets the canary by the path loses it. */
export function withShare(state: RolloutState, live: RolloutRoute | undefined): RolloutState {
  const { canary } = state;
  const isSame = live !== undefined && canary !== undefined && isSameConfiguration(canary, live.canary);
  if (!isSame || state.shadow || live.shadow || live.threshold <= state.threshold) return state;
  return { ...state, threshold: live.threshold };
}

/** Whether the webhook leads where the state says. */
export function isInForce(state: RolloutState, { place, live }: Pick<RolloutTraces, 'place' | 'live'>): boolean {
  const { stable, canary, threshold, shadow } = state;
  if (!isSameConfiguration(stable, place)) return false;
  if (canary === undefined || live === undefined) return canary === undefined && live === undefined;
  return isSameConfiguration(canary, live.canary) && threshold === live.threshold && shadow === live.shadow;
}

/** The rollout for the webhook's path; undefined at rest. */
export function rolloutOf(tag: string, { stable, canary, threshold, shadow }: RolloutState): RolloutRoute | undefined {
  if (canary === undefined) return undefined;
  const ref = ({ injectorConfig, hash }: RolloutPlace) => ({ injectorConfig, hash });
  return { tag, stable: ref(stable), canary: ref(canary), threshold, shadow };
}

/** Decided and written, but the webhook still leads from the revision before to the one that is stable now. */
function isPromotion({ stable, canary }: RolloutState, live: RolloutRoute | undefined): boolean {
  return canary === undefined && live !== undefined && live.canary.injectorConfig === stable.injectorConfig;
}
