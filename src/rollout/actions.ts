import { ConfigurationError } from '../api/errors.ts';
import { parseRolloutAction, type RolloutVerb } from '../api/revision-tag/rollout-action.ts';
import type { CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutRevision, RolloutState } from '../api/revision-tag/revision-tag.ts';
import { startOrWait } from './hold.ts';
import type { Moment } from './observation.ts';
import { isActive, promote, rollBack, type Transition } from './transitions.ts';

/** The result of an action. The pass ends if the action moved the rollout (`isMoved`). */
export interface Answered extends Transition {
  readonly isMoved: boolean;
}

/** Limits of the status schema, in characters. */
const longestNonce = 63;
const longestMessage = 1024;

/** Carries out the requested action, unless the state already records the same verb and nonce. */
export function answerAction(state: RolloutState, strategy: CanaryStrategy | undefined, moment: Moment): Answered {
  const { action } = moment.observed;
  if (action === undefined) return { state, events: [], isMoved: false };
  const { verb, nonce, mistake } = readAction(action);
  if (state.action?.nonce === nonce && state.action.verb === verb) return { state, events: [], isMoved: false };
  // An earlier version did not know the verb, and refused it: the request must not be done later.
  if (state.action?.verb === 'unknown' && state.action.nonce === action.slice(0, longestNonce))
    return { state, events: [], isMoved: false };
  const carried = mistake ?? carryOut(verb as RolloutVerb, state, strategy, moment);
  if (typeof carried === 'string') {
    const message = carried.slice(0, longestMessage);
    return {
      state: { ...state, action: { verb, nonce, state: 'Refused', message } },
      events: [{ type: 'Warning', reason: 'ActionRefused', message }],
      isMoved: false,
    };
  }
  const { canary } = carried.state;
  const what = verb === 'retry' && canary !== undefined ? `${attemptOf(canary)}: ` : '';
  const message = `${what}${carried.state.message}`.slice(0, longestMessage);
  const answered: RolloutState = { ...carried.state, action: { verb, nonce, state: 'Done', message } };
  return { state: answered, events: carried.events, isMoved: verb !== 'pause' && verb !== 'resume' };
}

/** Names a canary, so that the answer to `retry` says which rollout it has begun again. */
export function attemptOf({ revision, hash }: Pick<RolloutRevision, 'revision' | 'hash'>): string {
  return `revision ${revision} (configuration ${hash})`;
}

/**
 * Refuses an action when the state is missing. If a user removes the strategy for a while, the
 * state is lost but the annotation remains, so the action may have been carried out already.
 */
export function refuseUnknown(value: string): NonNullable<RolloutState['action']> {
  const { verb, nonce, mistake } = readAction(value);
  const unknown = `${verb}: status.rollout was missing, so the operator cannot tell whether it has already done this; request it again with another nonce`;
  return { verb, nonce, state: 'Refused', message: (mistake ?? unknown).slice(0, longestMessage) };
}

/** Parses a request. Returns a printable nonce and the mistake if the request is invalid. */
function readAction(value: string): { verb: string; nonce: string; mistake?: string } {
  try {
    return { ...parseRolloutAction(value) };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // The API server replaces half of a surrogate pair, so each pass would answer again.
    const nonce = value.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, longestNonce);
    return { verb: 'unknown', nonce, mistake: error.message };
  }
}

/** Returns the transition, or the reason why the action is refused. */
function carryOut(
  verb: RolloutVerb,
  state: RolloutState,
  strategy: CanaryStrategy | undefined,
  moment: Moment,
): Transition | string {
  const { observed } = moment;
  if (verb === 'retry') {
    if (state.phase !== 'RolledBack')
      return 'retry: nothing was rolled back; a rollout begins when spec.revision changes';
    if (strategy === undefined || observed.desired === undefined)
      return `retry: revision ${observed.revision} is not ready (condition RevisionReady); request it again when it is`;
    return startOrWait(state, observed.desired, strategy, moment);
  }
  if (!isActive(state)) {
    const advice = state.phase === 'RolledBack' ? '; the last one was rolled back; request retry to repeat it' : '';
    return `${verb}: no rollout is under way${advice}`;
  }
  if (verb === 'promote') return promote(state, state.step, 'a user requested it');
  if (verb === 'abort') return rollBack(state, observed.generation, 'Aborted', 'a user requested it');
  // `advanceStep` pauses the step in the same pass.
  if (verb === 'pause')
    return { state: { ...state, message: `step ${state.step + 1}: a user paused it`, resumed: false }, events: [] };
  if (state.pausedAt === undefined) return `resume: step ${state.step + 1} is not paused: ${state.message}`;
  const message = `step ${state.step + 1}: a user ended the pause`;
  const events = [{ type: 'Normal', reason: 'RolloutResumed', message }] as const;
  return { state: { ...state, message, resumed: true }, events };
}
