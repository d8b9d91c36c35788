import { durationMilliseconds } from '../duration.ts';
import { dnsLabelPattern } from '../kubernetes/field-types.ts';
import { type ValidationRule, brokenRules } from '../injector-config/injector-config-rules.ts';
import { defaultRevision, type RevisionTag, type RevisionTagSpec } from './revision-tag.ts';
import type { Mistake } from '../mistake.ts';

/** The rules whose `self` is the whole object. */
export const revisionTagRules: readonly ValidationRule<RevisionTag>[] = [
  {
    field: 'metadata.name',
    rule: `self.metadata.name.size() <= 63 && self.metadata.name.matches('${dnsLabelPattern.source}')`,
    message:
      'metadata.name must be a DNS-1123 label of at most 63 characters, because it is used as a label value; choose another name',
    holds: ({ metadata: { name } }) => name.length <= 63 && dnsLabelPattern.test(name),
  },
  {
    field: 'spec.revision',
    rule: `self.metadata.name == '${defaultRevision}' || self.metadata.name != self.spec.revision`,
    message: `spec.revision must not be the tag's own name, because a tag is a second name for a revision; change spec.revision or rename the tag`,
    holds: ({ metadata: { name }, spec }) => name === defaultRevision || name !== spec.revision,
  },
  {
    field: 'spec.enableNamespacesByDefault',
    rule: `self.metadata.name == '${defaultRevision}' || !has(self.spec.enableNamespacesByDefault) || !self.spec.enableNamespacesByDefault`,
    message: `spec.enableNamespacesByDefault is allowed only on tag ${defaultRevision}, because only that tag selects pods without labels; remove it`,
    holds: ({ metadata: { name }, spec }) => name === defaultRevision || !spec.enableNamespacesByDefault,
  },
];

const canary = 'self.strategy.canary';
const hasCanary = 'has(self.strategy) && has(self.strategy.canary)';
const tenSeconds = 10_000;

/** The rules whose `self` is the spec. */
export const revisionTagSpecRules: readonly ValidationRule<RevisionTagSpec>[] = [
  {
    field: 'spec.strategy.canary.steps',
    rule: `!(${hasCanary}) || ${canary}.steps.all(step, step.shadow == (step.weight == 0))`,
    message:
      'spec.strategy.canary.steps: a step with shadow must have weight 0, and any other step a weight from 1 to 100, because a step with weight 0 and without shadow gives no evidence; set shadow or change the weight',
    holds: ({ strategy }) => strategy?.canary?.steps.every(({ shadow, weight }) => shadow === (weight === 0)) ?? true,
  },
  {
    field: 'spec.strategy.canary.steps',
    rule: `!(${hasCanary}) || (${canary}.steps.map(step, step.weight).isSorted() && ${canary}.steps.all(step, step.weight == 0 || ${canary}.steps.filter(other, other.weight == step.weight).size() == 1))`,
    message:
      'spec.strategy.canary.steps: each weight must be larger than the previous one, and shadow steps must come first; reorder the steps and remove repeated weights',
    holds: ({ strategy }) =>
      strategy?.canary?.steps.every(({ weight }, index, steps) =>
        weight === 0 ? (steps[index - 1]?.weight ?? 0) === 0 : weight > (steps[index - 1]?.weight ?? 0),
      ) ?? true,
  },
  {
    field: 'spec.strategy.canary.analysis.readyTimeout',
    rule: `!(${hasCanary}) || duration(${canary}.analysis.readyTimeout) >= duration('10s')`,
    message:
      'spec.strategy.canary.analysis.readyTimeout must be at least 10s, because otherwise every pod would count as failing before it can become ready; increase it',
    holds: ({ strategy }) =>
      strategy?.canary === undefined || durationMilliseconds(strategy.canary.analysis.readyTimeout) >= tenSeconds,
  },
  {
    field: 'spec.strategy.restart.readyTimeout',
    rule: "!(has(self.strategy) && has(self.strategy.restart)) || duration(self.strategy.restart.readyTimeout) >= duration('10s')",
    message:
      'spec.strategy.restart.readyTimeout must be at least 10s, because otherwise every restart would time out before it can complete; increase it',
    holds: ({ strategy }) =>
      strategy?.restart === undefined || durationMilliseconds(strategy.restart.readyTimeout) >= tenSeconds,
  },
  {
    field: 'spec.strategy.rollback.restart',
    rule: `!(has(self.strategy) && has(self.strategy.rollback)) || self.strategy.rollback.restart == 'None' || (${hasCanary})`,
    message:
      'spec.strategy.rollback.restart: Canary requires spec.strategy.canary, because it restarts the workloads of a canary that was rolled back; add spec.strategy.canary or remove rollback',
    holds: ({ strategy }) => strategy?.canary !== undefined || (strategy?.rollback?.restart ?? 'None') === 'None',
  },
];

/** Returns the violations of the rules that the CRD has in CEL. */
export function validateRevisionTag(tag: RevisionTag): Mistake[] {
  return [...brokenRules(revisionTagRules, tag), ...brokenRules(revisionTagSpecRules, tag.spec)];
}
