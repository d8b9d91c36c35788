/** A rule of a webhook (admissionregistration.k8s.io/v1 RuleWithOperations). */
export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

/**
 * Whether a rule takes the creation of pods of v1 (k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go). matchPolicy makes no
 * difference: pods have no equivalent in another group or version.
 */
export function takesPodCreations(rule: WebhookRule): boolean {
  const { operations, apiGroups, apiVersions, resources = [], scope = '*' } = rule;
  const isMeant = names(operations, 'CREATE') && names(apiGroups, '') && names(apiVersions, 'v1');
  return isMeant && resources.some(takesPods) && (scope === '*' || scope === 'Namespaced');
}

/** `pods`, `*`, and each with `/*`: any or no subresource. */
function takesPods(resource: string): boolean {
  const [name, subresource = ''] = resource.split('/', 2);
  return (name === 'pods' || name === '*') && (subresource === '' || subresource === '*');
}

function names(list: readonly string[] | undefined, value: string): boolean {
  return list?.some((each) => each === value || each === '*') === true;
}
