import type { LabelSelector, LabelSelectorRequirement } from '../api/kubernetes.ts';

/**
 * Whether no set of labels can match both label selectors (metav1.LabelSelector, all of whose requirements must hold). Keys do not depend on each
 * other, so it is so exactly when some key cannot be given any value, nor be left out, to the satisfaction of both.
 */
export function areDisjoint(one: LabelSelector, other: LabelSelector): boolean {
  const byKey = new Map<string, LabelSelectorRequirement[]>();
  for (const requirement of [...requirementsOf(one), ...requirementsOf(other)]) {
    byKey.set(requirement.key, [...(byKey.get(requirement.key) ?? []), requirement]);
  }
  return [...byKey.values()].some((requirements) => !isSatisfiable(requirements));
}

/** Of all values only those that are named somewhere differ from each other; `other` stands for the rest, undefined for a label that is not there. */
function isSatisfiable(requirements: readonly LabelSelectorRequirement[]): boolean {
  const other = Symbol('a value that nobody names');
  const candidates = [undefined, other, ...requirements.flatMap(({ values }) => values ?? [])];
  return candidates.some((candidate) => requirements.every((requirement) => holds(requirement, candidate)));
}

function holds({ operator, values = [] }: LabelSelectorRequirement, value: string | symbol | undefined): boolean {
  const isNamed = typeof value === 'string' && values.includes(value);
  switch (operator) {
    case 'In':
      return isNamed;
    case 'NotIn':
      return !isNamed;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelSelectorRequirement[] {
  const equal = Object.entries(matchLabels).map(([key, value]): LabelSelectorRequirement => ({
    key,
    operator: 'In',
    values: [value],
  }));
  return [...equal, ...matchExpressions];
}
