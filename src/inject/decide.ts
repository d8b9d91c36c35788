import type { CompiledSelector } from '../selection/label-selector.ts';
import type { SkipReason } from './injection-result.ts';

/** The pod-independent inputs of a decision, compiled once per configuration. */
export interface DecisionRules {
  /** The policy: `enabled` or `disabled`; with any other text, no pod is injected. */
  readonly policy: string;
  readonly neverInject: readonly CompiledSelector[];
  readonly alwaysInject: readonly CompiledSelector[];
  readonly ignoredNamespaces: ReadonlySet<string>;
  /** The key of the label, and of the annotation, with which a pod opts in or out. */
  readonly injectKey: string;
  /** Whether pods of Windows are skipped. */
  readonly skipsWindows?: boolean;
}

/** The parts of a pod that the decision reads. */
export interface DecisionFacts {
  readonly namespace: string;
  readonly hostNetwork: boolean;
  /** True if `spec.os.name` is windows. */
  readonly windows?: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The reason why a pod is injected. */
export type InjectReason = 'OptedInByLabel' | 'OptedInByAnnotation' | 'AlwaysInjectSelector' | 'PolicyEnabled';

export type Decision = (
  { readonly inject: true; readonly reason: InjectReason } | { readonly inject: false; readonly reason: SkipReason }
) & { readonly message: string; readonly warnings: readonly string[] };

/**
 * Decides whether to inject a pod, in the order of Istio's `injectRequired`: host network, ignored
 * namespaces, the pod's label or else its annotation, the never and always selectors, the policy.
 * Istio has no rule about Windows.
 * An unknown policy injects no pod, not even one that opts in.
 */
export function decide(rules: DecisionRules, pod: DecisionFacts): Decision {
  if (pod.hostNetwork)
    return skip(
      'HostNetwork',
      "the pod uses the host network: redirecting its traffic would redirect the node's traffic too",
    );
  if (pod.windows === true && rules.skipsWindows === true)
    return skip(
      'WindowsPod',
      'the pod runs on Windows (spec.os.name); if the templates serve Windows, set injection.windowsPods: Inject',
    );
  if (rules.ignoredNamespaces.has(pod.namespace))
    return skip('IgnoredNamespace', `namespace "${pod.namespace}" is never injected`);

  const { injectKey: key, policy } = rules;
  const byLabel = Object.hasOwn(pod.labels, key);
  const byAnnotation = Object.hasOwn(pod.annotations, key);
  const choice = (byLabel ? pod.labels[key] : byAnnotation ? pod.annotations[key] : undefined) ?? '';
  let warnings: readonly string[] = [];
  if (choice !== '') {
    const source = `the pod's ${byLabel ? 'label' : 'annotation'} ${key} is "${choice}"`;
    if (choice === 'true') return accept(policy, byLabel ? 'OptedInByLabel' : 'OptedInByAnnotation', source, []);
    if (choice === 'false') return skip(byLabel ? 'OptedOutByLabel' : 'OptedOutByAnnotation', source);
    warnings = [`${source}, neither "true" nor "false": ignored`];
  }

  if (matchesAny(rules.neverInject, pod.labels))
    return skip('NeverInjectSelector', 'a neverInjectSelector matches the pod', warnings);
  if (matchesAny(rules.alwaysInject, pod.labels))
    return accept(policy, 'AlwaysInjectSelector', 'an alwaysInjectSelector matches the pod', warnings);
  if (policy === 'disabled')
    return skip('PolicyDisabled', 'the policy is disabled and the pod does not ask for injection', warnings);
  return accept(policy, 'PolicyEnabled', 'the policy is enabled', warnings);
}

/** Ignores invalid selectors, as Istio does; loading the configuration warns of them. */
function matchesAny(selectors: readonly CompiledSelector[], labels: Readonly<Record<string, string>>): boolean {
  return selectors.some((selector) => 'matches' in selector && selector.matches(labels));
}

function accept(policy: string, reason: InjectReason, message: string, warnings: readonly string[]): Decision {
  if (policy === 'enabled' || policy === 'disabled') return { inject: true, reason, message, warnings };
  const unknown = `the policy is "${policy}", neither "enabled" nor "disabled": nothing is injected`;
  return skip('PolicyUnknown', unknown, warnings);
}

function skip(reason: SkipReason, message: string, warnings: readonly string[] = []): Decision {
  return { inject: false, reason, message, warnings };
}
