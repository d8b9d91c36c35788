import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { Labels } from './label-selector.ts';
import { type CompiledSelectors, compileSelectors } from './selecting-webhook.ts';
import { excludedNamespaces, selectorsFor, type WebhookOwner } from './webhook-selectors.ts';
import { type ClaimingObjects, type PodClaim, podClaims, winningClaim } from './pod-claims.ts';

/** What of a pod decides whether it is selected. */
export interface SelectedPod {
  readonly labels: Labels;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The selectors of an owner's webhooks, ready for use; the InjectorConfig that a tag led to. */
interface OwnerSelectors {
  readonly config: InjectorConfig;
  readonly selectors: readonly CompiledSelectors[];
}

/**
 * Everybody who has a webhook, or should have: not an InjectorConfig that a tag stands in for, nor one that yields to an older one.
 * @param isAsked leaves out claims about which nothing is asked: each is compared with all others
 */
export function webhookOwners(
  claiming: ClaimingObjects,
  isAsked: (claim: PodClaim) => boolean = () => true,
): WebhookOwner[] {
  const everybody = podClaims(claiming);
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
  return config && { config, ...(tag && { tag }) };
}

/** Whose webhooks take a pod, told from the labels of both as the API server does it. */
export class PodSelection {
  readonly #ownNamespace: string;
  /** Parsed objects never change, so selectors are compiled once: by the tag, else the InjectorConfig. */
  readonly #compiled = new WeakMap<InjectorConfig | RevisionTag, OwnerSelectors>();

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

  #selectorsOf(owner: WebhookOwner): readonly CompiledSelectors[] {
    const { config, tag } = owner;
    const known = this.#compiled.get(tag ?? config);
    if (known?.config === config) return known.selectors;
    const selectors = selectorsFor(owner, this.#ownNamespace).map(compileSelectors);
    this.#compiled.set(tag ?? config, { config, selectors });
    return selectors;
  }
}

/** Whether any injector of the family has injected the pod. */
export function isInjected(pod: SelectedPod, { spec: { webhook } }: InjectorConfig): boolean {
  return Object.hasOwn(pod.annotations, webhook.keys.status);
}
