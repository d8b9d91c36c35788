import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { objectNames, tagWebhookConfiguration } from '../api/names.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { selectorsFor, type WebhookOwner } from './webhook-selectors.ts';
import { webhookOwners } from './webhook-owners.ts';
import type { ClaimingObjects, PodClaim } from './pod-claims.ts';
import {
  compileSelectors,
  type CompiledSelectors,
  readSelectingWebhook,
  type SelectingWebhook,
} from './selecting-webhook.ts';

/**
 * Everybody who takes pods, by the name of the webhook configuration: as those in force say, and, for what has none now (it is paused, or not ready
 * yet), as it will. Selectors that have not changed are the same object as before.
 */
export class SelectingWebhookReader {
  readonly #ownNamespace: string;
  readonly #compiled = new Map<string, { readonly text: string; readonly selectors: readonly CompiledSelectors[] }>();
  /** Objects of a view never change, so each is read once, for the keys of its family. */
  readonly #inForce = new WeakMap<KubernetesObject, SelectingWebhook>();
  #last = new Map<string, SelectingWebhook>();

  /** @param ownNamespace the operator's, whose pods nobody takes */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** @param webhooks the MutatingWebhookConfigurations of ours, with whatever else is labelled so */
  read(webhooks: readonly KubernetesObject[], claiming: ClaimingObjects): ReadonlyMap<string, SelectingWebhook> {
    const keys = new Map(
      claiming.configs.map(({ metadata, spec }): [string, WebhookKeys] => [metadata.name, spec.webhook.keys]),
    );
    const found = new Map<string, SelectingWebhook>();
    for (const object of webhooks) {
      const webhook = this.#read(object, keys);
      if (webhook !== undefined) found.set(webhook.id, webhook);
    }
    for (const owner of webhookOwners(claiming, (claim) => !found.has(webhookOf(claim)))) {
      const waiting = waitingWebhook(owner);
      found.set(waiting.id, this.#compile(waiting, selectorsFor(owner, this.#ownNamespace)));
    }
    for (const id of this.#compiled.keys()) if (!found.has(id)) this.#compiled.delete(id);
    this.#last = found;
    return this.#last;
  }

  #read(object: KubernetesObject, keys: ReadonlyMap<string, WebhookKeys>): SelectingWebhook | undefined {
    const known = this.#inForce.get(object);
    if (known !== undefined && isDeepStrictEqual(keys.get(known.injectorConfig), known.keys)) return known;
    const read = readSelectingWebhook(object, (name) => keys.get(name));
    const webhook = read && this.#compile(read, object.webhooks);
    if (webhook !== undefined) this.#inForce.set(object, webhook);
    return webhook;
  }

  /** The same object for the same content, so that it shows what has changed. */
  #compile(webhook: SelectingWebhook, selectors: unknown): SelectingWebhook {
    const pairs = (selectors as readonly { namespaceSelector?: object; objectSelector?: object }[]).map(
      ({ namespaceSelector, objectSelector }) => ({ namespaceSelector, objectSelector }),
    );
    const text = JSON.stringify([pairs, webhook.tag, webhook.keys]);
    const known = this.#compiled.get(webhook.id);
    const compiled = known?.text === text ? known.selectors : pairs.map((pair) => compileSelectors(pair as never));
    this.#compiled.set(webhook.id, { text, selectors: compiled });
    const next = { ...webhook, selectors: compiled };
    const last = this.#last.get(webhook.id);
    return last !== undefined && isSame(last, next) ? last : next;
  }
}

/** The name of the webhook configuration of who wants pods. */
function webhookOf({ kind, name }: Pick<PodClaim, 'kind' | 'name'>): string {
  return kind === 'RevisionTag' ? tagWebhookConfiguration(name) : objectNames(name).webhookConfiguration;
}

/** The webhook of an owner who has none now, as it will be, but for its selectors. */
function waitingWebhook({ config, tag }: WebhookOwner): SelectingWebhook {
  const { name: injectorConfig } = config.metadata;
  const { keys } = config.spec.webhook;
  const id = webhookOf(
    tag ? { kind: 'RevisionTag', name: tag.metadata.name } : { kind: 'InjectorConfig', name: injectorConfig },
  );
  const own = tag && { tag: tag.metadata.name };
  return { id, injectorConfig, ...own, keys, hash: undefined, since: NaN, isConditional: false, selectors: [] };
}

function isSame(one: SelectingWebhook, other: SelectingWebhook): boolean {
  const fields = ['injectorConfig', 'tag', 'hash', 'isConditional', 'selectors'] as const;
  return (
    fields.every((field) => one[field] === other[field]) &&
    Object.is(one.since, other.since) &&
    isDeepStrictEqual(one.canary, other.canary)
  );
}
