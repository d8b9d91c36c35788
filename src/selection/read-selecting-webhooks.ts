import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { selectorsFor, webhookName, type WebhookOwner } from './webhook-selectors.ts';
import { webhookOwners } from './webhook-owners.ts';
import type { ClaimingObjects } from './pod-claims.ts';
import {
  compileSelectors,
  readSelectingWebhook,
  type SelectingWebhook,
  type SelectorPair,
} from './selecting-webhook.ts';

/** A selecting webhook, and what it was read from. */
interface ReadWebhook {
  readonly webhook: SelectingWebhook;
  /** The selectors, the tag and the keys as text, for comparisons. */
  readonly selection: string;
  /** The other fields as text, for comparisons. */
  readonly text: string;
  /** The live object; absent for a desired webhook. */
  readonly object?: KubernetesObject;
}

/**
 * Reads all selecting webhooks: the live webhooks, and the desired webhooks of owners that have no
 * live webhook because they are paused or not ready yet. Webhooks and selectors that have not
 * changed remain the same object.
 */
export class SelectingWebhookReader {
  readonly #ownNamespace: string;
  /** What the last call has read, by id. */
  #last: ReadonlyMap<string, ReadWebhook> = new Map();

  /** @param ownNamespace the namespace of the operator, whose pods no webhook selects */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** @param webhooks all MutatingWebhookConfigurations with our labels, from any client */
  read(webhooks: readonly KubernetesObject[], claiming: ClaimingObjects): ReadonlyMap<string, SelectingWebhook> {
    const keys = new Map(
      claiming.configs.map(({ metadata, spec }): [string, WebhookKeys] => [metadata.name, spec.webhook.keys]),
    );
    const found = new Map<string, ReadWebhook>();
    for (const object of webhooks) {
      const read = this.#read(object, keys);
      if (read !== undefined) found.set(read.webhook.id, read);
    }
    for (const owner of webhookOwners(claiming, (claim) => !found.has(webhookName(claim)))) {
      const selectors = selectorsFor(owner, this.#ownNamespace);
      const desired = desiredWebhook(owner, selectors);
      found.set(desired.id, this.#unlessSame(desired, selectors));
    }
    this.#last = found;
    return new Map([...found].map(([id, { webhook }]) => [id, webhook]));
  }

  #read(object: KubernetesObject, keys: ReadonlyMap<string, WebhookKeys>): ReadWebhook | undefined {
    const last = this.#last.get(object.metadata.name ?? '');
    const isKnown = last?.object === object;
    if (isKnown && isDeepStrictEqual(keys.get(last.webhook.injectorConfig), last.webhook.keys)) return last;
    const webhook = readSelectingWebhook(object, (name) => keys.get(name));
    return webhook && { ...this.#unlessSame(webhook, object.webhooks as readonly SelectorPair[]), object };
  }

  /** Returns the previous webhook, or its compiled selectors, if they have not changed. */
  #unlessSame(webhook: SelectingWebhook, selectors: readonly SelectorPair[]): ReadWebhook {
    const pairs = selectors.map(({ namespaceSelector, objectSelector }) => [namespaceSelector, objectSelector]);
    const selection = JSON.stringify([pairs, webhook.tag, webhook.keys]);
    const text = JSON.stringify(webhook);
    const last = this.#last.get(webhook.id);
    if (last?.selection !== selection) return { webhook, selection, text };
    return last.text === text ? last : { webhook: { ...webhook, selectors: last.webhook.selectors }, selection, text };
  }
}

/** Returns the webhook that an owner will get. */
function desiredWebhook(owner: WebhookOwner, pairs: readonly SelectorPair[]): SelectingWebhook {
  const { config, tag } = owner;
  const { name: injectorConfig } = config.metadata;
  const { keys } = config.spec.webhook;
  const id = webhookName(owner);
  const own = tag && { tag: tag.metadata.name };
  const selectors = pairs.map(compileSelectors);
  return { id, injectorConfig, ...own, keys, hash: undefined, since: NaN, isConditional: false, selectors };
}
