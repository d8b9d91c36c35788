import type { Mistake } from '../mistake.ts';
import { brokenRules, validationRules } from '../validation-rules.ts';
import type { RevisionTag } from './revision-tag.ts';

/** The rules whose `self` is the whole object. */
export const revisionTagRules = validationRules({
  'metadata.name must be a DNS-1123 label of at most 63 characters, because it is used as a label value; choose another name':
    "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
  "spec.revision must not be the tag's own name, because a tag is a second name for a revision; change spec.revision or rename the tag":
    "self.metadata.name == 'default' || self.metadata.name != self.spec.revision",
  'spec.enableNamespacesByDefault is allowed only on tag default, because only that tag selects pods without labels; remove it':
    "self.metadata.name == 'default' || !has(self.spec.enableNamespacesByDefault) || !self.spec.enableNamespacesByDefault",
});

/** The rules whose `self` is the spec. */
export const revisionTagSpecRules = validationRules({
  'spec.strategy.canary.steps: a step with shadow must have weight 0, and any other step a weight from 1 to 100, because a step with weight 0 and without shadow gives no evidence; set shadow or change the weight':
    '!(has(self.strategy) && has(self.strategy.canary)) || self.strategy.canary.steps.all(step, step.shadow == (step.weight == 0))',
  'spec.strategy.canary.steps: each weight must be larger than the previous one, and shadow steps must come first; reorder the steps and remove repeated weights':
    '!(has(self.strategy) && has(self.strategy.canary)) || (self.strategy.canary.steps.map(step, step.weight).isSorted() && self.strategy.canary.steps.all(step, step.weight == 0 || self.strategy.canary.steps.filter(other, other.weight == step.weight).size() == 1))',
  'spec.strategy.canary.analysis.readyTimeout must be at least 10s, because otherwise every pod would count as failing before it can become ready; increase it':
    "!(has(self.strategy) && has(self.strategy.canary)) || duration(self.strategy.canary.analysis.readyTimeout) >= duration('10s')",
  'spec.strategy.restart.readyTimeout must be at least 10s, because otherwise every restart would time out before it can complete; increase it':
    "!(has(self.strategy) && has(self.strategy.restart)) || duration(self.strategy.restart.readyTimeout) >= duration('10s')",
  'spec.strategy.windows: from and to of a window must differ, because otherwise it would have no length; for a whole day, set from to "00:00" and to to "24:00"':
    '!(has(self.strategy) && has(self.strategy.windows)) || self.strategy.windows.all(window, window.from != window.to)',
  'spec.strategy.windows: timeZone must be the name of an existing time zone, because the operator needs its local time; write it as in Europe/Berlin':
    '!(has(self.strategy) && has(self.strategy.windows)) || self.strategy.windows.all(window, window.timeZone != "Local" && timestamp("2026-01-01T00:00:00Z").getFullYear(window.timeZone) > 0)',
  'spec.strategy.rollback.restart: Canary requires spec.strategy.canary, because it restarts the workloads of a canary that was rolled back; add spec.strategy.canary or remove rollback':
    "!(has(self.strategy) && has(self.strategy.rollback)) || self.strategy.rollback.restart == 'None' || (has(self.strategy) && has(self.strategy.canary))",
});

/** Returns the violations of the rules of the CRD. */
export function validateRevisionTag(tag: RevisionTag): Mistake[] {
  return brokenRules(revisionTagRules, revisionTagSpecRules, tag);
}
