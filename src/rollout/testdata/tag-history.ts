import assert from 'node:assert/strict';
import type { CanaryStrategy } from '../../api/revision-tag/rollout-strategy.ts';
import { rolloutStatusSchema, type RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { ObservedPod, RolloutObservation } from '../observation.ts';
import { advanceRollout, type RolloutPass } from '../rollout.ts';
import { at, observation, readyPods, start, strategyOf } from './situation.ts';

/** A strategy with three steps, of which the second pauses. */
export const threeSteps = strategyOf([{ weight: 5 }, { weight: 50, pause: '10m' }, { weight: 100 }]);

/** Returns enough pods of each revision. The canary pods are ready from `since` seconds on. */
export function healthy(since = 0): Record<'stable' | 'canary', ObservedPod[]> {
  return { stable: readyPods(100), canary: readyPods(3, since) };
}

/** Returns an observation while `spec.revision` is not ready. */
export function withoutDesired(fields: Partial<RolloutObservation> = {}): RolloutObservation {
  const observed = observation(fields);
  delete (observed as { desired?: unknown }).desired;
  return observed;
}

/** Runs passes over one tag. Parses each state with the status schema, as the API server does. */
export class TagHistory {
  state: RolloutState | undefined;
  pass: RolloutPass = { state: undefined, at: undefined, events: [] };
  strategy: CanaryStrategy | undefined;

  constructor(strategy: CanaryStrategy | undefined = threeSteps) {
    this.strategy = strategy;
  }

  /** Returns a history after its first pass. */
  static begun(strategy?: CanaryStrategy): TagHistory {
    const tag = new TagHistory(strategy);
    tag.see(0);
    return tag;
  }

  /** Runs a pass some seconds after the start; returns `phase/reason`. */
  see(seconds: number, fields: Partial<RolloutObservation> = {}): string {
    const observed = observation(fields);
    this.pass = advanceRollout({ state: this.state, strategy: this.strategy, observed, now: at(seconds) });
    const { state } = this.pass;
    this.state = state && rolloutStatusSchema.parse(JSON.parse(JSON.stringify(state)));
    assert.deepEqual(this.state, state);
    return state === undefined ? 'none' : `${state.phase}/${state.reason}`;
  }

  /** The time of the next pass, in seconds after the start. */
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
