import type { LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes.ts';

/** Whether a pod with these labels is selected. */
export type LabelMatcher = (labels: Readonly<Record<string, string>>) => boolean;

/** A selector ready for use, or why it is none. */
export type CompiledSelector =
  | { readonly matches: LabelMatcher; /** The label names that it asks for. */ readonly keys: readonly string[] }
  | { readonly invalid: string };

const namePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const prefixPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Compiles a metav1.LabelSelector with the rules of apimachinery: In and NotIn need values, Exists and DoesNotExist have none, keys are
 * qualified names and values label values. An empty selector matches nothing here, as in Istio's injector (for the API server it would match everything).
 */
export function compileLabelSelector(selector: LabelSelector): CompiledSelector {
  const matchers: LabelMatcher[] = [];
  const requirements = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]): LabelSelectorRequirement => ({
      key,
      operator: 'In',
      values: [value],
    })),
    ...(selector.matchExpressions ?? []),
  ];
  for (const requirement of requirements) {
    const problem = requirementProblem(requirement);
    if (problem !== undefined) return { invalid: problem };
    matchers.push(requirementMatcher(requirement));
  }
  const keys = [...new Set(requirements.map(({ key }) => key))];
  if (matchers.length === 0) return { matches: () => false, keys };
  return { matches: (labels) => matchers.every((matcher) => matcher(labels)), keys };
}

function requirementMatcher({ key, operator, values }: LabelSelectorRequirement): LabelMatcher {
  const accepted = new Set(values);
  switch (operator) {
    case 'In':
      return (labels) => Object.hasOwn(labels, key) && accepted.has(labels[key] ?? '');
    case 'NotIn':
      return (labels) => !Object.hasOwn(labels, key) || !accepted.has(labels[key] ?? '');
    case 'Exists':
      return (labels) => Object.hasOwn(labels, key);
    case 'DoesNotExist':
      return (labels) => !Object.hasOwn(labels, key);
  }
}

function requirementProblem({ key, operator, values }: LabelSelectorRequirement): string | undefined {
  if (!isQualifiedName(key)) return `key "${key}" is not a label name`;
  const count = values?.length ?? 0;
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (count === 0) return `operator ${operator} of key "${key}" needs values`;
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (count > 0) return `operator ${operator} of key "${key}" takes no values`;
      break;
    default:
      return `operator "${String(operator)}" of key "${key}" is none of In, NotIn, Exists, DoesNotExist`;
  }
  const wrong = values?.find((value) => !isLabelValue(value));
  return wrong === undefined ? undefined : `value "${wrong}" of key "${key}" is not a label value`;
}

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  if (prefix !== undefined && (prefix.length > 253 || !prefixPattern.test(prefix))) return false;
  return name.length <= 63 && namePattern.test(name);
}

function isLabelValue(value: string): boolean {
  return value === '' || (value.length <= 63 && namePattern.test(value));
}
