import type { LabelSelector } from '../api/kubernetes.ts';
import { compileLabelSelector, type LabelMatcher } from '../inject/decision/label-selector.ts';

/** As the API server selects: unlike Istio's injector it takes an empty selector for all. One that cannot be read takes none. */
export function apiServerMatcher(selector: LabelSelector): LabelMatcher {
  const requirements = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0);
  if (requirements === 0) return () => true;
  const compiled = compileLabelSelector(selector);
  return 'matches' in compiled ? compiled.matches : () => false;
}
