import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { objectNames, tagWebhookConfiguration } from '../../api/names.ts';
import type { WebhookKeys } from '../../api/webhook-keys.ts';
import * as claims from '../../manifests/claims.ts';
import { excludedNamespaces } from '../../manifests/excluded-namespaces.ts';
import { tagSelectors, webhookSelectors, type WebhookSelectors } from '../../manifests/webhook-selectors.ts';
import type { ClaimingObjects } from '../overlap.ts';
import { claimantInForce, claimedPods, type Claimant, type ClaimedPods } from './claimant.ts';

/**
 * Everybody who takes pods, by the name of the webhook configuration: as those in force say, and, for what has none now (it is paused, or not ready
 * yet), as it will. Selectors that have not changed are the same object as before.
 */
export class ClaimantReader {
  readonly #ownNamespace: string;
  readonly #compiled = new Map<string, { readonly text: string; readonly claims: readonly ClaimedPods[] }>();
  /** Objects of a view never change, so each is read once, for the keys of its family. */
  readonly #inForce = new WeakMap<KubernetesObject, Claimant>();
  #last = new Map<string, Claimant>();

  /** @param ownNamespace the operator's, whose pods nobody takes */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** @param webhooks the MutatingWebhookConfigurations of ours, with whatever else is labelled so */
  read(webhooks: readonly KubernetesObject[], claiming: ClaimingObjects): ReadonlyMap<string, Claimant> {
    const keys = new Map(
      claiming.configs.map(({ metadata, spec }): [string, WebhookKeys] => [metadata.name, spec.webhook.keys]),
    );
    const found = new Map<string, Claimant>();
    for (const object of webhooks) {
      const claimant = this.#read(object, keys);
      if (claimant !== undefined) found.set(claimant.id, claimant);
    }
    const everybody = claims.claimants(claiming.configs, claiming.tags, claiming.leadsTo);
    for (const wanting of everybody) {
      const waiting = this.#waiting(wanting, claiming);
      if (waiting === undefined || found.has(waiting.claimant.id)) continue;
      if (claims.claimWinner(wanting, everybody) !== undefined) continue;
      found.set(waiting.claimant.id, this.#compile(waiting.claimant, waiting.selectors));
    }
    for (const id of this.#compiled.keys()) if (!found.has(id)) this.#compiled.delete(id);
    this.#last = found;
    return this.#last;
  }

  #read(object: KubernetesObject, keys: ReadonlyMap<string, WebhookKeys>): Claimant | undefined {
    const known = this.#inForce.get(object);
    if (known !== undefined && isDeepStrictEqual(keys.get(known.injectorConfig), known.keys)) return known;
    const read = claimantInForce(object, (name) => keys.get(name));
    const claimant = read && this.#compile(read, object.webhooks);
    if (claimant !== undefined) this.#inForce.set(object, claimant);
    return claimant;
  }

  /** Whoever has no webhook now, as it will be. */
  #waiting(
    { kind, name, keys }: claims.Claimant,
    { configs, tags, leadsTo }: ClaimingObjects,
  ): { readonly claimant: Claimant; readonly selectors: readonly WebhookSelectors[] } | undefined {
    const tag = kind === 'RevisionTag' ? tags.find(({ metadata }) => metadata.name === name) : undefined;
    const config = tag === undefined ? configs.find(({ metadata }) => metadata.name === name) : leadsTo(tag);
    if (config === undefined) return undefined;
    const excluded = excludedNamespaces(config, this.#ownNamespace);
    const injectorConfig = config.metadata.name;
    const common = { injectorConfig, keys, hash: undefined, since: NaN, isConditional: false, claims: [] };
    return tag === undefined
      ? {
          claimant: { ...common, id: objectNames(name).webhookConfiguration },
          selectors: webhookSelectors(config, excluded),
        }
      : {
          claimant: { ...common, id: tagWebhookConfiguration(name), tag: name },
          selectors: tagSelectors(tag, config, excluded),
        };
  }

  /** The same object for the same content, so that it shows what has changed. */
  #compile(claimant: Claimant, selectors: unknown): Claimant {
    const pairs = (selectors as readonly { namespaceSelector?: object; objectSelector?: object }[]).map(
      ({ namespaceSelector, objectSelector }) => ({ namespaceSelector, objectSelector }),
    );
    const text = JSON.stringify([pairs, claimant.tag, claimant.keys]);
    const known = this.#compiled.get(claimant.id);
    const compiled = known?.text === text ? known.claims : pairs.map((pair) => claimedPods(pair as never));
    this.#compiled.set(claimant.id, { text, claims: compiled });
    const next = { ...claimant, claims: compiled };
    const last = this.#last.get(claimant.id);
    return last !== undefined && isSame(last, next) ? last : next;
  }
}

function isSame(one: Claimant, other: Claimant): boolean {
  const fields = ['injectorConfig', 'tag', 'hash', 'isConditional', 'claims'] as const;
  return (
    fields.every((field) => one[field] === other[field]) &&
    Object.is(one.since, other.since) &&
    isDeepStrictEqual(one.canary, other.canary)
  );
}
