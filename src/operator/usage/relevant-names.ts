import type { InjectorConfig } from '../../api/injector-config.ts';
import type { LabelSelector } from '../../api/kubernetes.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import type { Claimant } from './claimant.ts';
import type { RelevantNames } from './pod-traits.ts';

/** The labels and annotations that anybody has asked for so far; what is asked once is kept. */
export class KnownNames implements RelevantNames {
  readonly labels = new Set<string>();
  readonly annotations = new Set<string>();
  readonly statuses = new Set<string>();

  /** How many there are: more than before when something new is asked. */
  get size(): number {
    return this.labels.size + this.annotations.size + this.statuses.size;
  }

  addConfig({ spec: { webhook, injection } }: InjectorConfig): void {
    const { keys } = webhook;
    for (const name of [keys.revision, keys.inject]) this.labels.add(name);
    this.annotations.add(keys.inject);
    this.statuses.add(keys.status);
    for (const selector of [...injection.neverInjectSelector, ...injection.alwaysInjectSelector]) {
      for (const name of namesIn(selector)) this.labels.add(name);
    }
  }

  addClaimant({ claims }: Claimant): void {
    for (const { podLabels } of claims) for (const name of podLabels) this.labels.add(name);
  }

  addRules({ neverInject, alwaysInject }: DecisionRules): void {
    for (const selector of [...neverInject, ...alwaysInject]) {
      for (const name of 'keys' in selector ? selector.keys : []) this.labels.add(name);
    }
  }
}

function namesIn({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] {
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}
