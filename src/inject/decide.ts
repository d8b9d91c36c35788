import type { CompiledSelector } from '../selection/label-selector.ts';
import type { SkipReason } from './injection-result.ts';

/** What the decision depends on, beside the pod; compiled once per configuration. */
export interface DecisionRules {
  /** `enabled` and `disabled` are the policies; with any other text nothing is injected. */
  readonly policy: string;
  readonly neverInject: readonly CompiledSelector[];
  readonly alwaysInject: readonly CompiledSelector[];
  readonly ignoredNamespaces: ReadonlySet<string>;
  /** The label with which a pod opts in or out, and the annotation of the same name. */
  readonly injectKey: string;
}

/** What the decision reads of a pod. */
export interface DecisionFacts {
  readonly namespace: string;
  readonly hostNetwork: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Why a pod is injected. */
export type InjectReason = 'OptedInByLabel' | 'OptedInByAnnotation' | 'AlwaysInjectSelector' | 'PolicyEnabled';

type Verdict =
  | { readonly inject: true; readonly reason: InjectReason; readonly message: string }
  | { readonly inject: false; readonly reason: SkipReason; readonly message: string };

export type Decision = Verdict & { readonly warnings: readonly string[] };

/**
 * Whether a pod that reached the webhook is injected, and why: host network, ignored namespaces, the pod's own say (the label beats the
 * annotation), the never and always selectors, the policy, in this order (Istio's `injectRequired`). An unknown policy injects nothing,
 * not even a pod that opts in.
 */
export function decide(rules: DecisionRules, pod: DecisionFacts): Decision {
  if (pod.hostNetwork) {
    return {
      ...skip('HostNetwork', "the pod uses the host network: redirecting its traffic would redirect the node's"),
      warnings: [],
    };
  }
  if (rules.ignoredNamespaces.has(pod.namespace)) {
    return { ...skip('IgnoredNamespace', `namespace "${pod.namespace}" is never injected`), warnings: [] };
  }
  const { verdict, warnings } = podsOwnSay(rules.injectKey, pod);
  const wanted = verdict ?? bySelector(rules, pod.labels) ?? byPolicy(rules.policy);
  const known = rules.policy === 'enabled' || rules.policy === 'disabled';
  return withWarnings(wanted.inject && !known ? unknownPolicy(rules.policy) : wanted, warnings);
}

/** Written out rather than spread, which would cost more than the whole decision. */
function withWarnings(verdict: Verdict, warnings: readonly string[]): Decision {
  return verdict.inject
    ? { inject: true, reason: verdict.reason, message: verdict.message, warnings }
    : { inject: false, reason: verdict.reason, message: verdict.message, warnings };
}

function podsOwnSay(
  key: string,
  pod: DecisionFacts,
): { readonly verdict?: Verdict; readonly warnings: readonly string[] } {
  const byLabel = Object.hasOwn(pod.labels, key);
  const value = byLabel ? pod.labels[key] : Object.hasOwn(pod.annotations, key) ? pod.annotations[key] : undefined;
  const where = `${byLabel ? 'label' : 'annotation'} ${key}`;
  switch (value) {
    case 'true': {
      const reason = byLabel ? 'OptedInByLabel' : 'OptedInByAnnotation';
      return { verdict: { inject: true, reason, message: `the pod's ${where} is "true"` }, warnings: [] };
    }
    case 'false':
      return {
        verdict: skip(byLabel ? 'OptedOutByLabel' : 'OptedOutByAnnotation', `the pod's ${where} is "false"`),
        warnings: [],
      };
    case undefined:
    case '':
      return { warnings: [] };
    default:
      return { warnings: [`the pod's ${where} is "${value}", neither "true" nor "false": ignored`] };
  }
}

function bySelector(rules: DecisionRules, labels: Readonly<Record<string, string>>): Verdict | undefined {
  if (matchesAny(rules.neverInject, labels))
    return skip('NeverInjectSelector', 'a neverInjectSelector matches the pod');
  if (!matchesAny(rules.alwaysInject, labels)) return undefined;
  return { inject: true, reason: 'AlwaysInjectSelector', message: 'an alwaysInjectSelector matches the pod' };
}

/** An invalid selector is passed over, as Istio does; loading the configuration has warned of it. */
function matchesAny(selectors: readonly CompiledSelector[], labels: Readonly<Record<string, string>>): boolean {
  return selectors.some((selector) => 'matches' in selector && selector.matches(labels));
}

function byPolicy(policy: string): Verdict {
  switch (policy) {
    case 'enabled':
      return { inject: true, reason: 'PolicyEnabled', message: 'the policy is enabled' };
    case 'disabled':
      return skip('PolicyDisabled', 'the policy is disabled and the pod does not ask for injection');
    default:
      return unknownPolicy(policy);
  }
}

function unknownPolicy(policy: string): Verdict {
  return skip('PolicyUnknown', `the policy is "${policy}", neither "enabled" nor "disabled": nothing is injected`);
}

function skip(reason: SkipReason, message: string): Verdict {
  return { inject: false, reason, message };
}
