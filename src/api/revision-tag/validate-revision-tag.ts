import { brokenRules } from '../injector-config/injector-config-rules.ts';
import type { Mistake } from '../mistake.ts';
import type { RevisionTag } from './revision-tag.ts';
import { revisionTagRules, revisionTagSpecRules } from './revision-tag-rules.ts';

/** Every mistake that shows without looking at the cluster: the rules that the CRD has in CEL. */
export function validateRevisionTag(tag: RevisionTag): Mistake[] {
  return [...brokenRules(revisionTagRules, tag), ...brokenRules(revisionTagSpecRules, tag.spec)];
}
