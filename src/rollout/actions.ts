import { ConfigurationError } from '../api/errors.ts';
import { parseRolloutAction, type RolloutVerb } from '../api/revision-tag/rollout-action.ts';
import type { CanaryStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { RolloutState } from '../api/revision-tag/revision-tag.ts';
import { startOrWait } from './hold.ts';
import type { Moment } from './observation.ts';
import { isActive, promote, rollBack, type Transition } from './transitions.ts';

/** A transition, and whether it has moved the rollout: then nothing more is done in the same pass. */
export interface Answered extends Transition {
  readonly isMoved: boolean;
}

/** What the schema of the status holds. */
const longestNonce = 63;
const longestMessage = 1024;

/** Carries out what the annotation asks for, once: an answer in the state, with the same verb and nonce, means that it is done. */
export function answerAction(state: RolloutState, strategy: CanaryStrategy | undefined, moment: Moment): Answered {
  const { action } = moment.observed;
  if (action === undefined) return { state, events: [], isMoved: false };
  const { verb, nonce, mistake } = readAction(action);
  if (state.action?.nonce === nonce && state.action.verb === verb) return { state, events: [], isMoved: false };
  const carried = mistake ?? carryOut(verb as RolloutVerb, state, strategy, moment);
  if (typeof carried === 'string') {
    const message = carried.slice(0, longestMessage);
    return {
      state: { ...state, action: { verb, nonce, state: 'Refused', message } },
      events: [{ type: 'Warning', reason: 'ActionRefused', message }],
      isMoved: false,
    };
  }
  const message = carried.state.message.slice(0, longestMessage);
  const answered: RolloutState = { ...carried.state, action: { verb, nonce, state: 'Done', message } };
  return { state: answered, events: carried.events, isMoved: verb !== 'resume' };
}

/**
 * The answer to a request that is found where no state is, so that nobody knows whether it was carried out long ago: the annotation stays on the tag
 * when the strategy, and with it the state, goes for a while.
 */
export function refuseUnknown(value: string): NonNullable<RolloutState['action']> {
  const { verb, nonce, mistake } = readAction(value);
  const unknown = `${verb}: nothing is known of what was asked before (status.rollout was not there), so it is not done; ask again with another word`;
  return { verb, nonce, state: 'Refused', message: (mistake ?? unknown).slice(0, longestMessage) };
}

/** The request, or what is wrong with it; a refusal is remembered by what was written. */
function readAction(value: string): { verb: string; nonce: string; mistake?: string } {
  try {
    return { ...parseRolloutAction(value) };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // Half of a character would be stored as another one, and be answered for ever.
    const nonce = value.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, longestNonce);
    return { verb: 'unknown', nonce, mistake: error.message };
  }
}

/** What comes of it, or why nothing does. */
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
    if (strategy === undefined || observed.wanted === undefined)
      return `retry: revision ${observed.revision} cannot be led to now (condition RevisionReady); ask again when it can`;
    return startOrWait(state, observed.wanted, strategy, moment);
  }
  if (!isActive(state)) {
    const advice = state.phase === 'RolledBack' ? '; it was rolled back, ask for retry' : '';
    return `${verb}: no rollout is under way${advice}`;
  }
  if (verb === 'promote') return promote(state, state.step, 'a person asked for it');
  if (verb === 'abort') return rollBack(state, observed.generation, 'Aborted', 'a person asked for it');
  if (state.pausedAt === undefined) return `resume: step ${state.step + 1} is not paused: ${state.message}`;
  const message = `step ${state.step + 1}: the pause was ended by a person`;
  const events = [{ type: 'Normal', reason: 'RolloutResumed', message }] as const;
  return { state: { ...state, message, resumed: true }, events };
}
