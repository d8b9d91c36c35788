/** A rule of a webhook (admissionregistration.k8s.io/v1 RuleWithOperations). */
export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

/**
 * Reports whether a rule matches the creation of v1 pods
 * (k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go). matchPolicy does not
 * matter: pods have no equivalent in another group or version.
 */
export function takesPodCreations(rule: WebhookRule): boolean {
  const { operations, apiGroups, apiVersions, resources = [], scope = '*' } = rule;
  const matchesCreation = names(operations, 'CREATE') && names(apiGroups, '') && names(apiVersions, 'v1');
  return matchesCreation && resources.some(takesPods) && (scope === '*' || scope === 'Namespaced');
}

/** Matches `pods` and `*`, even if `/*` follows: all of these match pods without a subresource. */
function takesPods(resource: string): boolean {
  const [name, subresource = ''] = resource.split('/', 2);
  return (name === 'pods' || name === '*') && (subresource === '' || subresource === '*');
}

function names(list: readonly string[] | undefined, value: string): boolean {
  return list?.some((each) => each === value || each === '*') === true;
}
