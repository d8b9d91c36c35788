import { isPathProbeName } from '../../src/api/names.ts';
import type { AuditEvent, AuditLog } from './audit-log.ts';
import { follow } from './follow.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { webhooks, type WebhookConfiguration } from './webhook-configurations.ts';

/** Reports whether a webhook configuration belongs to the operator and is no probe webhook. */
function isWebhookOfOurs(name: string): boolean {
  return name.startsWith('sidecar-injector-') && !isPathProbeName(name);
}

/** Tracks the operator's writes of webhooks, and the versions that a watch has seen. */
export class WebhookWrites {
  readonly #audit: AuditLog;
  readonly #username: string;
  readonly #versions = new Map<string, WebhookConfiguration[]>();

  private constructor(audit: AuditLog, username: string) {
    this.#audit = audit;
    this.#username = username;
  }

  static async open(context: ScenarioContext, audit: AuditLog, username: string): Promise<WebhookWrites> {
    const writes = new WebhookWrites(audit, username);
    const { items } = await context.client.listAll(webhooks);
    const known = new Set(items.map(({ metadata }) => metadata.resourceVersion));
    await follow(context, webhooks, {}, (object, gone) => {
      const { name = '', resourceVersion } = object.metadata;
      if (gone || !isWebhookOfOurs(name) || known.has(resourceVersion)) return;
      writes.#versions.set(name, [...(writes.#versions.get(name) ?? []), object as WebhookConfiguration]);
    });
    return writes;
  }

  /** Counts successful writes, conflicts (409) and seen versions. Omits probe webhooks. */
  count(): { successful: number; conflicts: number; versions: number } {
    const events = this.#audit
      .writesBy(this.#username)
      .filter(({ objectRef, verb }) => objectRef?.resource === webhooks.plural && verb !== 'delete')
      .filter(({ objectRef }) => isWebhookOfOurs(objectRef?.name ?? ''));
    const answered = (code: (code: number) => boolean): AuditEvent[] =>
      events.filter(({ responseStatus }) => code(responseStatus?.code ?? 0));
    return {
      successful: answered((code) => code < 300).length,
      conflicts: answered((code) => code === 409).length,
      versions: [...this.#versions.values()].reduce((sum, each) => sum + each.length, 0),
    };
  }

  versions(name: string): number {
    return this.#versions.get(name)?.length ?? 0;
  }

  /** Returns a webhook's paths in order, without repetitions. */
  paths(name: string): string[] {
    const all = (this.#versions.get(name) ?? []).map((each) => each.webhooks[0]?.clientConfig.service?.path ?? '');
    return all.filter((path, index) => path !== all[index - 1]);
  }

  /** Returns the names of webhooks that were reset to an earlier version, separated by commas. */
  returned(): string {
    const isReturned = ([, versions]: [string, WebhookConfiguration[]]): boolean =>
      new Set(versions.map((each) => JSON.stringify(each.webhooks))).size < versions.length;
    return [...this.#versions]
      .filter(isReturned)
      .map(([name]) => name)
      .join(', ');
  }

  bundle(name: string): string {
    return this.#versions.get(name)?.at(-1)?.webhooks[0]?.clientConfig.caBundle ?? '';
  }
}
