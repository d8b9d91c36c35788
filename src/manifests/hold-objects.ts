import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { gateOf, pathProbeKeys, pathProbeName } from '../api/names.ts';
import type { SelectorPair } from '../selection/selecting-webhook.ts';
import type { ManifestContext } from './manifest-context.ts';
import { probedNamespace, probeRule, probeSubject } from './probe-objects.ts';
import { heldPrefix, podCreations, replaceable } from './replaceable-pods.ts';
import {
  matchConditionsOf,
  type WebhookConfiguration,
  type WebhookInput,
  webhookMetadata,
} from './webhook-configuration.ts';

/** The versions of MutatingAdmissionPolicies, the preferred version first. */
export const policyVersions = ['admissionregistration.k8s.io/v1', 'admissionregistration.k8s.io/v1beta1'] as const;
export type PolicyVersion = (typeof policyVersions)[number];

/**
 * Returns, in the order of application, the policy that adds the gate to the replaceable pods of a
 * webhook configuration, and a binding for each pair of its selectors. The specs contain all
 * defaults of the API server, so that a live object can be compared as a whole. The policy is
 * evaluated before all webhooks.
 * @param configuration the configuration whose selectors to use; see `webhookConfiguration`
 */
export function holdObjects(
  configuration: WebhookConfiguration,
  input: WebhookInput,
  context: ManifestContext,
  version: PolicyVersion,
): KubernetesObject[] {
  const { webhook } = input.config.spec;
  const { name = '' } = configuration.metadata;
  const selecting = (configuration.webhooks ?? []) as readonly (Selectors & { readonly name: string })[];
  return policyObjects(name, input, context, version, {
    failurePolicy: webhook.fallback,
    matchPolicy: webhook.matchPolicy,
    matchConditions: [...matchConditionsOf(webhook), replaceable],
    rule: podCreations,
    expression: `Object{spec: Object.spec{schedulingGates: [Object.spec.schedulingGates{name: '${gateOf(name)}'}]}}`,
    bindings: selecting
      .filter((each) => !each.name.startsWith(heldPrefix))
      .map((each) => ({ ...each, name: `${name}.${each.name}` })),
  });
}

/**
 * Returns a policy with its binding that answers the dry-run creation of one ConfigMap (see
 * `probeConfigMap`) with its own nonce. Created after the policy of a webhook, it proves that the
 * API server, which reads policies in the order of their creation, has that policy too.
 */
export function probePolicy(
  input: WebhookInput,
  context: ManifestContext,
  version: PolicyVersion,
  nonce: string,
): KubernetesObject[] {
  const name = pathProbeName(probeSubject(input));
  const isProbe = `has(request.dryRun) && request.dryRun == true && object.metadata.name == '${name}'`;
  return policyObjects(name, input, context, version, {
    failurePolicy: 'Ignore',
    matchPolicy: 'Equivalent',
    matchConditions: [{ name: 'probe', expression: isProbe }],
    rule: probeRule,
    expression: `Object{data: {'${pathProbeKeys.answer}': '${nonce}'}}`,
    bindings: [{ name, ...probedNamespace(context) }],
  });
}

type Selectors = Required<SelectorPair>;

interface PolicyParts {
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly matchPolicy: 'Exact' | 'Equivalent';
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly rule: Readonly<Record<string, unknown>>;
  /** A CEL expression that returns the fields to apply. */
  readonly expression: string;
  readonly bindings: readonly (Selectors & { readonly name: string })[];
}

function policyObjects(
  name: string,
  input: WebhookInput,
  context: ManifestContext,
  apiVersion: PolicyVersion,
  { failurePolicy, matchPolicy, matchConditions, rule, expression, bindings }: PolicyParts,
): KubernetesObject[] {
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: webhookMetadata(name, input, context),
      spec: {
        failurePolicy,
        matchConditions,
        matchConstraints: { matchPolicy, namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] },
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
        reinvocationPolicy: 'Never',
      },
    },
    ...bindings.map(({ name: binding, namespaceSelector, objectSelector }) => ({
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: webhookMetadata(binding, input, context),
      spec: { policyName: name, matchResources: { matchPolicy, namespaceSelector, objectSelector } },
    })),
  ];
}
