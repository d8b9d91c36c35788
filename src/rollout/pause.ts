import { durationMilliseconds } from '../api/duration.ts';
import { untilResumed, type CanaryStep } from '../api/rollout-strategy.ts';
import type { ActiveState, Transition } from './transitions.ts';

/**
 * The pause of a step whose evidence is there, and its end (milliseconds since 1970; undefined: a person ends it). It begins when the evidence is
 * there for the first time, and goes on when that is lost for a while. Undefined when there is none, or when it is over.
 */
export function pauseOf(
  state: ActiveState,
  { pause }: CanaryStep,
  now: number,
): { readonly transition: Transition; readonly end: number | undefined } | undefined {
  if (pause === undefined || state.resumed === true) return undefined;
  const pausedAt = state.pausedAt ?? new Date(now).toISOString();
  const end = pause === untilResumed ? undefined : Date.parse(pausedAt) + durationMilliseconds(pause);
  if (end !== undefined && end <= now) return undefined;
  const until = end === undefined ? 'until somebody resumes it' : `until ${new Date(end).toISOString()}`;
  const message = `step ${state.step + 1} (${state.weight} percent) is paused ${until}`;
  const paused = {
    ...state,
    phase: 'Paused',
    reason: end === undefined ? 'UntilResumed' : 'Pause',
    message,
    pausedAt,
  } as const;
  const isNew = state.pausedAt === undefined;
  return {
    transition: { state: paused, events: isNew ? [{ type: 'Normal', reason: 'RolloutPaused', message }] : [] },
    end,
  };
}
