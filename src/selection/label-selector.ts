import { labelValuePattern, qualifiedNamePattern } from '../api/kubernetes/field-types.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';

/** The labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** Reports whether a selector selects an object with these labels. */
export type LabelMatcher = (labels: Labels) => boolean;

/** A compiled selector, or the reason why the selector is invalid. */
export type CompiledSelector =
  | { readonly matches: LabelMatcher; /** The label names in its requirements. */ readonly keys: readonly string[] }
  | { readonly invalid: string };

/** What an empty selector selects: 'nothing' in Istio, 'everything' in the API server. */
export type EmptySelector = 'nothing' | 'everything';

/**
 * Compiles a metav1.LabelSelector according to apimachinery (`LabelSelectorAsSelector`,
 * `Requirement`): all requirements must hold, In and NotIn need values, Exists and DoesNotExist
 * have none, keys are qualified names and values are label values.
 */
export function compileLabelSelector(selector: LabelSelector, empty: EmptySelector): CompiledSelector {
  const requirements = requirementsOf(selector);
  const problem = requirements.map(requirementProblem).find((each) => each !== undefined);
  if (problem !== undefined) return { invalid: problem };
  const keys = keysOf(selector);
  if (requirements.length === 0) return { matches: () => empty === 'everything', keys };
  return { matches: (labels) => requirements.every((requirement) => isMet(requirement, labels)), keys };
}

/** Returns a matcher that follows the API server's rules. An invalid selector selects nothing. */
export function apiServerMatcher(selector: LabelSelector): LabelMatcher {
  const compiled = compileLabelSelector(selector, 'everything');
  return 'matches' in compiled ? compiled.matches : () => false;
}

/** Returns all requirements of a selector, with matchLabels as expressions. */
export function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelSelectorRequirement[] {
  const equal = Object.entries(matchLabels).map(([key, value]): LabelSelectorRequirement => {
    return { key, operator: 'In', values: [value] };
  });
  return [...equal, ...matchExpressions];
}

/** Returns the label names in the requirements of a selector. */
export function keysOf(selector: LabelSelector): string[] {
  return [...new Set(requirementsOf(selector).map(({ key }) => key))];
}

/** Returns the requirements that the labels do not meet, according to the API server. */
export function unmetRequirements(selector: LabelSelector | undefined, labels: Labels): LabelSelectorRequirement[] {
  return requirementsOf(selector ?? {}).filter((requirement) => !isMet(requirement, labels));
}

/** Reports whether no labels can match both selectors: no value of some key meets both. */
export function areDisjoint(one: LabelSelector, other: LabelSelector): boolean {
  const byKey = new Map<string, LabelSelectorRequirement[]>();
  for (const requirement of [...requirementsOf(one), ...requirementsOf(other)]) {
    byKey.set(requirement.key, [...(byKey.get(requirement.key) ?? []), requirement]);
  }
  return [...byKey.values()].some((requirements) => !isSatisfiable(requirements));
}

/** Tries each named value, the value `other`, which no requirement names, and an absent label. */
function isSatisfiable(requirements: readonly LabelSelectorRequirement[]): boolean {
  const other = Symbol('a value that no requirement names');
  const candidates = [undefined, other, ...requirements.flatMap(({ values }) => values ?? [])];
  return candidates.some((candidate) => requirements.every((requirement) => holds(requirement, candidate)));
}

/**
 * Returns labels that a selector selects, or with `isWanted` false, does not select. Undefined if
 * there are none.
 * @param fixed labels that the object has in any case
 */
export function labelsFor(selector: LabelSelector, isWanted: boolean, fixed: Labels = {}): Labels | undefined {
  const matches = apiServerMatcher(selector);
  if (matches(fixed) === isWanted) return {};
  const found: Record<string, string> = {};
  for (const key of keysOf(selector).filter((each) => !Object.hasOwn(fixed, each))) {
    const requirements = requirementsOf(selector).filter((each) => each.key === key);
    const candidates = [undefined, 'other', ...requirements.flatMap(({ values }) => values ?? [])];
    const value = candidates.find((each) => requirements.every((one) => holds(one, each)) === isWanted);
    if (value !== undefined) found[key] = value;
  }
  return matches({ ...fixed, ...found }) === isWanted ? found : undefined;
}

function isMet(requirement: LabelSelectorRequirement, labels: Labels): boolean {
  const { key } = requirement;
  return holds(requirement, Object.hasOwn(labels, key) ? labels[key] : undefined);
}

/** @param value the value of the label; undefined if the label is absent, which NotIn accepts */
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

/** The maximum length of a prefix of a label name. The pattern limits the name after the prefix. */
const longestPrefix = 253;

function requirementProblem({ key, operator, values }: LabelSelectorRequirement): string | undefined {
  if (!qualifiedNamePattern.test(key) || key.indexOf('/') > longestPrefix) return `key "${key}" is not a label name`;
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
  const wrong = values?.find((value) => value.length > 63 || !labelValuePattern.test(value));
  return wrong === undefined ? undefined : `value "${wrong}" of key "${key}" is not a label value`;
}
