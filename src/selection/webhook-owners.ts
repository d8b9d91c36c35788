import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import { apiServerMatcher, type LabelMatcher, type Labels } from './label-selector.ts';
import { excludedNamespaces, selectorsFor, type WebhookOwner } from './webhook-selectors.ts';
import { type ClaimingObjects, type PodClaim, podClaims, winningClaim } from './pod-claims.ts';

/** What of a pod decides whether it is selected. */
export interface SelectedPod {
  readonly labels: Labels;
  readonly annotations: Readonly<Record<string, string>>;
}

interface SelectorPair {
  readonly namespace: LabelMatcher;
  readonly pod: LabelMatcher;
}

/**
 * Everybody who has a webhook, or should have: not an InjectorConfig that a tag stands in for, nor one that yields to an older one.
 * @param isAsked leaves out claims about which nothing is asked: each is compared with all others
 */
export function webhookOwners(
  claiming: ClaimingObjects,
  isAsked: (claim: PodClaim) => boolean = () => true,
): WebhookOwner[] {
  const everybody = podClaims(claiming.configs, claiming.tags, claiming.targetOf);
  return everybody
    .filter((claim) => isAsked(claim) && winningClaim(claim, everybody) === undefined)
    .flatMap((claim) => ownerOf(claim, claiming) ?? []);
}

/** The objects behind a claim; undefined when it leads to no InjectorConfig. */
export function ownerOf(
  { kind, name }: PodClaim,
  { configs, tags, targetOf }: ClaimingObjects,
): WebhookOwner | undefined {
  const isNamedSo = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === name;
  const tag = kind === 'RevisionTag' ? tags.find(isNamedSo) : undefined;
  const config = tag === undefined ? configs.find(isNamedSo) : targetOf(tag);
  return config && { config, ...(tag === undefined ? {} : { tag }) };
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
  of(pod: SelectedPod, namespaceLabels: Labels, owners: readonly WebhookOwner[]): WebhookOwner[] {
    return owners.filter(
      (owner) =>
        !isInjected(pod, owner.config) &&
        this.#selectorsOf(owner).some((pair) => pair.namespace(namespaceLabels) && pair.pod(pod.labels)),
    );
  }

  /** Whether the webhook of an InjectorConfig never takes pods of a namespace, whatever its labels are. */
  excludes(config: InjectorConfig, namespace: string): boolean {
    return excludedNamespaces(config, this.#ownNamespace).includes(namespace);
  }

  #selectorsOf(owner: WebhookOwner): readonly SelectorPair[] {
    const { config, tag } = owner;
    const ofConfig = this.#compiled.get(config) ?? new Map<RevisionTag | undefined, readonly SelectorPair[]>();
    this.#compiled.set(config, ofConfig);
    const known = ofConfig.get(tag);
    if (known !== undefined) return known;
    const pairs = selectorsFor(owner, this.#ownNamespace).map(({ namespaceSelector, objectSelector }) => ({
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
export function isInjected(pod: SelectedPod, { spec: { webhook } }: InjectorConfig): boolean {
  return Object.hasOwn(pod.annotations, webhook.keys.status);
}
