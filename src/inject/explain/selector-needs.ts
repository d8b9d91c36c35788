import type { LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes.ts';

export type Labels = Readonly<Record<string, string>>;

/** The requirements of a selector, matchLabels written as expressions. */
export function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelSelectorRequirement[] {
  const equal = Object.entries(matchLabels).map(([key, value]): LabelSelectorRequirement => {
    return { key, operator: 'In', values: [value] };
  });
  return [...equal, ...matchExpressions];
}

/**
 * What labels lack to be selected, by the API server's rules: all requirements must hold, NotIn also holds where there is no label, and an empty
 * selector takes everything. Empty when they are selected.
 */
export function unmetRequirements(selector: LabelSelector | undefined, labels: Labels): LabelSelectorRequirement[] {
  return requirementsOf(selector ?? {}).filter((requirement) => !holds(requirement, labels));
}

function holds({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean {
  const isThere = Object.hasOwn(labels, key);
  switch (operator) {
    case 'In':
      return isThere && values.includes(labels[key] ?? '');
    case 'NotIn':
      return !isThere || !values.includes(labels[key] ?? '');
    case 'Exists':
      return isThere;
    case 'DoesNotExist':
      return !isThere;
  }
}

/** `label istio-injection is absent, needs "enabled"`: an unmet requirement in words. */
export function unmetInWords({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): string {
  const found = Object.hasOwn(labels, key) ? `is ${JSON.stringify(labels[key])}` : 'is absent';
  const listed = values.map((value) => JSON.stringify(value)).join(' or ');
  switch (operator) {
    case 'In':
      return `label ${key} ${found}, needs ${listed}`;
    case 'NotIn':
      return `label ${key} ${found}, which is excluded`;
    case 'Exists':
      return `label ${key} ${found}, needs any value`;
    case 'DoesNotExist':
      return `label ${key} ${found}, must be absent`;
  }
}
