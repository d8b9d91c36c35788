import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { Labels } from './label-selector.ts';
import { type CompiledSelectors, compileSelectors } from './selecting-webhook.ts';
import { excludedNamespaces, selectorsFor, type WebhookOwner } from './webhook-selectors.ts';
import { type ClaimingObjects, type PodClaim, podClaims, winningClaim } from './pod-claims.ts';

/** The fields of a pod that decide about its selection. */
export interface SelectedPod {
  readonly labels: Labels;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The compiled selectors of an owner's webhooks, and the InjectorConfig they were compiled for. */
interface OwnerSelectors {
  readonly config: InjectorConfig;
  readonly selectors: readonly CompiledSelectors[];
}

/**
 * Returns all objects that should have a webhook: no InjectorConfig that a tag replaces, and none
 * that yields to an older one.
 * @param isRelevant skips claims early, since each remaining one is compared with all others
 */
export function webhookOwners(
  claiming: ClaimingObjects,
  isRelevant: (claim: PodClaim) => boolean = () => true,
): WebhookOwner[] {
  const all = podClaims(claiming);
  return all
    .filter((claim) => isRelevant(claim) && winningClaim(claim, all) === undefined)
    .flatMap((claim) => ownerOf(claim, claiming) ?? []);
}

/** Returns the objects of a claim; undefined when the tag has no target. */
export function ownerOf(
  { kind, name }: PodClaim,
  { configs, tags, targetOf }: ClaimingObjects,
): WebhookOwner | undefined {
  const isNamedSo = ({ metadata }: { metadata: { name: string } }): boolean => metadata.name === name;
  const tag = kind === 'RevisionTag' ? tags.find(isNamedSo) : undefined;
  const config = tag === undefined ? configs.find(isNamedSo) : targetOf(tag);
  return config && { config, ...(tag && { tag }) };
}

/** Finds the owners whose webhooks select a pod, by the API server's rules. */
export class PodSelection {
  readonly #ownNamespace: string;
  /** The selectors compiled for each tag or InjectorConfig. Parsed objects never change. */
  readonly #compiled = new WeakMap<InjectorConfig | RevisionTag, OwnerSelectors>();

  /** @param ownNamespace of the operator, whose pods no webhook selects */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** Returns the owners that select the pod and whose family has not injected it. */
  of(pod: SelectedPod, namespaceLabels: Labels, owners: readonly WebhookOwner[]): WebhookOwner[] {
    return owners.filter(
      (owner) =>
        !isInjected(pod, owner.config) &&
        this.#selectorsOf(owner).some((pair) => pair.namespace(namespaceLabels) && pair.pod(pod.labels)),
    );
  }

  /** Reports whether the webhooks of an InjectorConfig never select pods of a namespace. */
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

/** Reports whether an injector of the family has injected the pod. */
export function isInjected(pod: SelectedPod, { spec: { webhook } }: InjectorConfig): boolean {
  return Object.hasOwn(pod.annotations, webhook.keys.status);
}
