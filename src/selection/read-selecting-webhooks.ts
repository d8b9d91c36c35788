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
 * Reads all selecting webhooks: the live webhooks, and the desired webhooks of owners that have no
 * live webhook because they are paused or not ready yet. Selectors that have not changed remain the
 * same object.
 */
export class SelectingWebhookReader {
  readonly #ownNamespace: string;
  readonly #compiled = new Map<string, { readonly text: string; readonly selectors: readonly CompiledSelectors[] }>();
  /** The live webhook of each object. An entry is valid until the keys of its family change. */
  readonly #live = new WeakMap<KubernetesObject, SelectingWebhook>();
  #last = new Map<string, SelectingWebhook>();

  /** @param ownNamespace the namespace of the operator, whose pods no webhook selects */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** @param webhooks all MutatingWebhookConfigurations with our labels, from any client */
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
      const desired = desiredWebhook(owner);
      found.set(desired.id, this.#compile(desired, selectorsFor(owner, this.#ownNamespace)));
    }
    for (const id of this.#compiled.keys()) if (!found.has(id)) this.#compiled.delete(id);
    this.#last = found;
    return this.#last;
  }

  #read(object: KubernetesObject, keys: ReadonlyMap<string, WebhookKeys>): SelectingWebhook | undefined {
    const known = this.#live.get(object);
    if (known !== undefined && isDeepStrictEqual(keys.get(known.injectorConfig), known.keys)) return known;
    const read = readSelectingWebhook(object, (name) => keys.get(name));
    const webhook = read && this.#compile(read, object.webhooks);
    if (webhook !== undefined) this.#live.set(object, webhook);
    return webhook;
  }

  /** Compiles selectors. Returns the previous object if nothing has changed. */
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

/** Returns the name of the webhook configuration of a claim. */
function webhookOf({ kind, name }: Pick<PodClaim, 'kind' | 'name'>): string {
  return kind === 'RevisionTag' ? tagWebhookConfiguration(name) : objectNames(name).webhookConfiguration;
}

/** Returns the webhook that an owner will get, without the selectors. */
function desiredWebhook({ config, tag }: WebhookOwner): SelectingWebhook {
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
