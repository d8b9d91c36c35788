import type { Mistake } from '../mistake.ts';
import type { RevisionTag } from './revision-tag.ts';
import { revisionTagRules, revisionTagSpecRules } from './revision-tag-rules.ts';

/** Every mistake that shows without looking at the cluster: the rules that the CRD has in CEL. */
export function validateRevisionTag(tag: RevisionTag): Mistake[] {
  const broken = [
    ...revisionTagRules.filter((rule) => !rule.holds(tag)),
    ...revisionTagSpecRules.filter((rule) => !rule.holds(tag.spec)),
  ];
  return broken.map(({ field, message }) => ({ field, message }));
}
