import type { KubernetesObject, LabelSelector } from '../api/kubernetes/kubernetes.ts';
import { gateOf, pathProbeKeys, pathProbeName } from '../api/names.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import type { ManifestContext } from './manifest-context.ts';
import { probeSubject } from './probe-objects.ts';
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

/** A MutatingAdmissionPolicy and its bindings, in order of application. */
export interface PolicyObjects {
  readonly policy: KubernetesObject;
  readonly bindings: readonly KubernetesObject[];
}

/**
 * Returns the policy that adds the gate to the replaceable pods of a webhook configuration, and a
 * binding for each pair of its selectors. The specs contain all defaults of the API server, so that
 * a live object can be compared as a whole. The policy is evaluated before all webhooks.
 * @param configuration the configuration whose selectors to use; see `webhookConfiguration`
 */
export function holdObjects(
  configuration: WebhookConfiguration,
  input: WebhookInput,
  context: ManifestContext,
  version: PolicyVersion,
): PolicyObjects {
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
 * Returns a policy that answers the dry-run creation of one ConfigMap (see `probeConfigMap`) with
 * its own nonce. Created after the policy of a webhook, it proves that the API server, which reads
 * policies in the order of their creation, has that policy too.
 */
export function probePolicy(
  input: WebhookInput,
  context: ManifestContext,
  version: PolicyVersion,
  nonce: string,
): PolicyObjects {
  const name = pathProbeName(probeSubject(input));
  const isProbe = `has(request.dryRun) && request.dryRun == true && object.metadata.name == '${name}'`;
  const namespaceSelector = {
    matchExpressions: [{ key: namespaceNameLabel, operator: 'In' as const, values: [context.namespace] }],
  };
  return policyObjects(name, input, context, version, {
    failurePolicy: 'Ignore',
    matchPolicy: 'Equivalent',
    matchConditions: [{ name: 'probe', expression: isProbe }],
    rule: { ...podCreations, resources: ['configmaps'] },
    expression: `Object{data: {'${pathProbeKeys.answer}': '${nonce}'}}`,
    bindings: [{ name, namespaceSelector, objectSelector: {} }],
  });
}

interface Selectors {
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

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
): PolicyObjects {
  return {
    policy: {
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
    bindings: bindings.map(({ name: binding, namespaceSelector, objectSelector }) => ({
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: webhookMetadata(binding, input, context),
      spec: { policyName: name, matchResources: { matchPolicy, namespaceSelector, objectSelector } },
    })),
  };
}
