import type { RolloutHistory, Rule } from './history.ts';
import { endRules } from './judge-ends.ts';
import { stepRules } from './judge-steps.ts';

/** All rules, by what they ask for. */
export const rules: ReadonlyMap<string, Rule> = new Map([...stepRules, ...endRules]);

/** What a rollout must not do, whoever led it; empty when all is well. */
export function judgeRollout(history: RolloutHistory): string[] {
  return [...rules.values()].flatMap((rule) => rule(history));
}
