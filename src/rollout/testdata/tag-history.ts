import assert from 'node:assert/strict';
import type { CanaryStrategy } from '../../api/revision-tag/rollout-strategy.ts';
import { rolloutStatusSchema, type RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { ObservedPod, RolloutObservation } from '../observation.ts';
import { advanceRollout, type RolloutPass } from '../rollout.ts';
import { at, observation, readyPods, start, strategyOf } from './situation.ts';

/** Three steps, of which the second pauses. */
export const threeSteps = strategyOf([{ weight: 5 }, { weight: 50, pause: '10m' }, { weight: 100 }]);

/** Enough pods of both sides, ready since some seconds after the start. */
export function healthy(since = 0): Record<'stable' | 'canary', ObservedPod[]> {
  return { stable: readyPods(100), canary: readyPods(3, since) };
}

/** What is seen while nothing that `spec.revision` serves can be led to. */
export function withoutWanted(fields: Partial<RolloutObservation> = {}): RolloutObservation {
  const observed = observation(fields);
  delete (observed as { wanted?: unknown }).wanted;
  return observed;
}

/** One tag through a history of passes; the state goes through the schema of the status as it would through the API server. */
export class TagHistory {
  state: RolloutState | undefined;
  pass: RolloutPass = { state: undefined, at: undefined, events: [] };
  strategy: CanaryStrategy | undefined;

  constructor(given: CanaryStrategy | undefined = threeSteps) {
    this.strategy = given;
  }

  /** With its first pass behind it. */
  static begun(given?: CanaryStrategy): TagHistory {
    const tag = new TagHistory(given);
    tag.see(0);
    return tag;
  }

  /** A pass some seconds after the start; returns `phase/reason`. */
  see(seconds: number, fields: Partial<RolloutObservation> = {}): string {
    const observed = observation(fields);
    this.pass = advanceRollout({ state: this.state, strategy: this.strategy, observed, now: at(seconds) });
    const { state } = this.pass;
    this.state = state && rolloutStatusSchema.parse(JSON.parse(JSON.stringify(state)));
    assert.deepEqual(this.state, state);
    return state === undefined ? 'none' : `${state.phase}/${state.reason}`;
  }

  /** When the next pass is due, in seconds after the start. */
  get due(): number | undefined {
    return this.pass.at && (this.pass.at.getTime() - start) / 1000;
  }

  get events(): string[] {
    return this.pass.events.map(({ type, reason }) => `${type}/${reason}`);
  }

  get now(): RolloutState {
    assert.ok(this.state);
    return this.state;
  }
}
