import type { Labels } from './label-selector.ts';
import type { CompiledSelectors, SelectingWebhook } from './selecting-webhook.ts';

interface Entry {
  readonly webhook: SelectingWebhook;
  readonly selectors: CompiledSelectors;
}

/** Finds the webhooks that select a pod. Looks up most webhooks by a label that they require. */
export class SelectingWebhookIndex {
  readonly #webhooks = new Map<string, { readonly webhook: SelectingWebhook; readonly entries: readonly Entry[] }>();
  /** The entries by required label (`namespace key=value`, `pod key=value`), or '' if none. */
  readonly #entries = new Map<string, Set<Entry>>();

  get(id: string): SelectingWebhook | undefined {
    return this.#webhooks.get(id)?.webhook;
  }

  all(): readonly SelectingWebhook[] {
    return [...this.#webhooks.values()].map(({ webhook }) => webhook);
  }

  /** Adds a webhook, or replaces the webhook with the same id. */
  set(webhook: SelectingWebhook): void {
    this.delete(webhook.id);
    const entries = webhook.selectors.map((selectors): Entry => ({ webhook, selectors }));
    this.#webhooks.set(webhook.id, { webhook, entries });
    for (const entry of entries) {
      for (const anchor of anchorsOf(entry.selectors)) {
        const found = this.#entries.get(anchor) ?? new Set();
        this.#entries.set(anchor, found.add(entry));
      }
    }
  }

  delete(id: string): void {
    const { entries = [] } = this.#webhooks.get(id) ?? {};
    this.#webhooks.delete(id);
    for (const entry of entries) {
      for (const anchor of anchorsOf(entry.selectors)) {
        const found = this.#entries.get(anchor);
        found?.delete(entry);
        if (found?.size === 0) this.#entries.delete(anchor);
      }
    }
  }

  /** Returns the webhooks that select a pod with these labels, usually at most one per family. */
  selecting(namespaceLabels: Labels, podLabels: Labels): SelectingWebhook[] {
    const selected = new Set<SelectingWebhook>();
    for (const { webhook, selectors } of this.#candidates(namespaceLabels, podLabels)) {
      if (selectors.namespace(namespaceLabels) && selectors.pod(podLabels)) selected.add(webhook);
    }
    return [...selected];
  }

  /** Returns the webhooks that require a namespace label, and that select this namespace. */
  namedBy(namespaceLabels: Labels): SelectingWebhook[] {
    const named = new Set<SelectingWebhook>();
    for (const { webhook, selectors } of this.#candidates(namespaceLabels, {})) {
      if (selectors.isByNamespace && selectors.namespace(namespaceLabels)) named.add(webhook);
    }
    return [...named];
  }

  *#candidates(namespaceLabels: Labels, podLabels: Labels): Iterable<Entry> {
    yield* this.#entries.get('') ?? [];
    for (const label of labelTexts(namespaceLabels)) yield* this.#entries.get(`namespace ${label}`) ?? [];
    for (const label of labelTexts(podLabels)) yield* this.#entries.get(`pod ${label}`) ?? [];
  }
}

/** Yields each label as `key=value` and as `key`. */
export function* labelTexts(labels: Labels): Iterable<string> {
  for (const [key, value] of Object.entries(labels)) {
    yield `${key}=${value}`;
    yield key;
  }
}

function anchorsOf({ anchor }: CompiledSelectors): string[] {
  return anchor === undefined ? [''] : anchor.labels.map((label) => `${anchor.side} ${label}`);
}
