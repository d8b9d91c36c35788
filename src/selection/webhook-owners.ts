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

/** The compiled selectors of an owner's webhooks, and the InjectorConfig that they belong to. */
interface OwnerSelectors {
  readonly config: InjectorConfig;
  readonly selectors: readonly CompiledSelectors[];
}

/**
 * Returns all objects that should have a webhook. Omits InjectorConfigs that a tag replaces, and
 * objects that yield to another object.
 * @param isRelevant skips claims early, because each remaining claim is compared with all claims
 */
export function webhookOwners(
  claiming: ClaimingObjects,
  isRelevant: (claim: PodClaim) => boolean = () => true,
): WebhookOwner[] {
  const all = podClaims(claiming);
  return all.filter((claim) => isRelevant(claim) && winningClaim(claim, all) === undefined);
}

/** Finds the owners whose webhooks select a pod, according to the API server's rules. */
export class PodSelection {
  readonly #ownNamespace: string;
  /** The compiled selectors of each tag or InjectorConfig. Parsed objects never change. */
  readonly #compiled = new WeakMap<InjectorConfig | RevisionTag, OwnerSelectors>();

  /** @param ownNamespace the namespace of the operator, whose pods no webhook selects */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** Returns the owners that select the pod, unless their family has already injected it. */
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
