import type { LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes/kubernetes.ts';

/** Reports whether labels match a selector by the rules of Kubernetes. */
export function matches(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const exact = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return exact && (selector.matchExpressions ?? []).every((requirement) => holds(requirement, labels[requirement.key]));
}

function holds({ operator, values = [] }: LabelSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
