import { apiServerMatcher } from './api-server-matcher.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import type { RevisionTag } from '../api/revision-tag.ts';
import type { LabelMatcher } from '../inject/decision/label-selector.ts';
import { claimants, claimWinner } from '../manifests/claims.ts';
import { excludedNamespaces } from '../manifests/excluded-namespaces.ts';
import { tagSelectors, webhookSelectors } from '../manifests/webhook-selectors.ts';
import type { ClaimingObjects } from './overlap.ts';
import type { ArrivedPod } from './pod-record.ts';

export type Labels = Readonly<Record<string, string>>;

/** Who takes pods: an InjectorConfig by its own webhook, or by that of a tag which leads to it. */
export interface PodTaker {
  readonly config: InjectorConfig;
  readonly tag?: RevisionTag;
}

interface SelectorPair {
  readonly namespace: LabelMatcher;
  readonly pod: LabelMatcher;
}

/** Everybody who has a webhook, or should have: not an InjectorConfig that a tag stands in for, nor one that yields to an older one. */
export function podTakers({ configs, tags, leadsTo }: ClaimingObjects): PodTaker[] {
  const everybody = claimants(configs, tags, leadsTo);
  return everybody
    .filter((claimant) => claimWinner(claimant, everybody) === undefined)
    .flatMap(({ kind, name }): PodTaker[] => {
      const isNamedSo = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === name;
      const tag = kind === 'RevisionTag' ? tags.find(isNamedSo) : undefined;
      const config = tag === undefined ? configs.find(isNamedSo) : leadsTo(tag);
      return config === undefined ? [] : [{ config, ...(tag === undefined ? {} : { tag }) }];
    });
}

/** Whose webhooks take a pod, told from the labels of both as the API server does it. */
export class PodSelection {
  readonly #ownNamespace: string;
  /** Parsed objects never change, so selectors are compiled once: of an InjectorConfig, and of a tag that leads to it. */
  readonly #compiled = new WeakMap<InjectorConfig, Map<RevisionTag | undefined, readonly SelectorPair[]>>();

  /** @param ownNamespace the operator's, whose pods no webhook takes */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** Those that take the pod and whose family has not injected it. */
  of(pod: ArrivedPod, namespaceLabels: Labels, takers: readonly PodTaker[]): PodTaker[] {
    return takers.filter(
      (taker) =>
        !isInjected(pod, taker.config) &&
        this.#selectorsOf(taker).some((pair) => pair.namespace(namespaceLabels) && pair.pod(pod.labels)),
    );
  }

  /** Whether the webhook of an InjectorConfig never takes pods of a namespace, whatever its labels are. */
  excludes(config: InjectorConfig, namespace: string): boolean {
    return excludedNamespaces(config, this.#ownNamespace).includes(namespace);
  }

  #selectorsOf({ config, tag }: PodTaker): readonly SelectorPair[] {
    const ofConfig = this.#compiled.get(config) ?? new Map<RevisionTag | undefined, readonly SelectorPair[]>();
    this.#compiled.set(config, ofConfig);
    const known = ofConfig.get(tag);
    if (known !== undefined) return known;
    const excluded = excludedNamespaces(config, this.#ownNamespace);
    const selectors = tag === undefined ? webhookSelectors(config, excluded) : tagSelectors(tag, config, excluded);
    const pairs = selectors.map(({ namespaceSelector, objectSelector }) => ({
      namespace: apiServerMatcher(namespaceSelector),
      pod: apiServerMatcher(objectSelector),
    }));
    // Of a tag that has a new version the old one is not asked for again.
    for (const other of ofConfig.keys()) if (other?.metadata.name === tag?.metadata.name) ofConfig.delete(other);
    ofConfig.set(tag, pairs);
    return pairs;
  }
}

/** Whether any injector of the family has injected the pod. */
export function isInjected(pod: ArrivedPod, { spec: { webhook } }: InjectorConfig): boolean {
  return Object.hasOwn(pod.annotations, webhook.keys.status);
}
