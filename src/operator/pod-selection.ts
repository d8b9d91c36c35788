import type { InjectorConfig } from '../api/injector-config.ts';
import type { LabelSelector } from '../api/kubernetes.ts';
import { systemNamespaces } from '../api/system-namespaces.ts';
import { compileLabelSelector, type LabelMatcher } from '../inject/decision/label-selector.ts';
import { webhookSelectors } from '../manifests/webhook-selectors.ts';
import { claimantOfConfig, claimWinner } from '../manifests/claims.ts';
import type { ArrivedPod } from './pod-record.ts';

export type Labels = Readonly<Record<string, string>>;

interface SelectorPair {
  readonly namespace: LabelMatcher;
  readonly pod: LabelMatcher;
}

/** Which InjectorConfigs' webhooks take a pod, told from the labels of both as the API server does it. */
export class PodSelection {
  readonly #ownNamespace: string;
  /** Parsed InjectorConfigs never change, so their selectors are compiled once. */
  readonly #compiled = new WeakMap<InjectorConfig, readonly SelectorPair[]>();

  /** @param ownNamespace the operator's, whose pods no webhook takes */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** Those that take the pod and whose family has not injected it. One that yields to an older one has no webhook. */
  of(pod: ArrivedPod, namespaceLabels: Labels, configs: readonly InjectorConfig[]): InjectorConfig[] {
    return configs.filter(
      (config) =>
        !isInjected(pod, config) &&
        this.#selectorsOf(config).some((pair) => pair.namespace(namespaceLabels) && pair.pod(pod.labels)) &&
        claimWinner(claimantOfConfig(config), configs.filter(isLive).map(claimantOfConfig)) === undefined,
    );
  }

  /** Whether the webhook of an InjectorConfig never takes pods of a namespace, whatever its labels are. */
  excludes(config: InjectorConfig, namespace: string): boolean {
    return this.#excludedBy(config).includes(namespace);
  }

  #selectorsOf(config: InjectorConfig): readonly SelectorPair[] {
    const known = this.#compiled.get(config);
    if (known !== undefined) return known;
    const pairs = webhookSelectors(config, this.#excludedBy(config)).map(({ namespaceSelector, objectSelector }) => ({
      namespace: matcher(namespaceSelector),
      pod: matcher(objectSelector),
    }));
    this.#compiled.set(config, pairs);
    return pairs;
  }

  #excludedBy(config: InjectorConfig): string[] {
    return [...systemNamespaces, this.#ownNamespace, ...config.spec.webhook.excludedNamespaces];
  }
}

function isLive({ metadata }: InjectorConfig): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Whether any injector of the family has injected the pod. */
export function isInjected(pod: ArrivedPod, { spec: { webhook } }: InjectorConfig): boolean {
  return Object.hasOwn(pod.annotations, webhook.keys.status);
}

/** As the API server selects: unlike Istio's injector it takes an empty selector for all. */
function matcher(selector: LabelSelector): LabelMatcher {
  const requirements = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0);
  if (requirements === 0) return () => true;
  const compiled = compileLabelSelector(selector);
  return 'matches' in compiled ? compiled.matches : () => false;
}
