import { isPathProbeName } from '../../src/api/names.ts';
import type { AuditLog } from './audit-log.ts';
import { follow } from './follow.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { webhooks, type WebhookConfiguration } from './webhook-configurations.ts';

/** Reports whether a webhook configuration belongs to the operator and is no probe webhook. */
function isWebhookOfOurs(name: string): boolean {
  return name.startsWith('sidecar-injector-') && !isPathProbeName(name);
}

/** Tracks the operator's writes of webhooks, and the versions that a watch has seen. */
export async function trackWebhookWrites(context: ScenarioContext, audit: AuditLog, username: string) {
  const seen = new Map<string, WebhookConfiguration[]>();
  const versionsOf = (name: string) => seen.get(name) ?? [];
  const { items } = await context.client.listAll(webhooks);
  const known = new Set(items.map(({ metadata }) => metadata.resourceVersion));
  await follow(context, webhooks, {}, (object, gone) => {
    const { name = '', resourceVersion } = object.metadata;
    if (gone || !isWebhookOfOurs(name) || known.has(resourceVersion)) return;
    seen.set(name, [...versionsOf(name), object as WebhookConfiguration]);
  });
  return {
    /** Counts successful writes, conflicts (409) and seen versions. Omits probe webhooks. */
    count: () => {
      const codes = audit
        .writesBy(username)
        .filter(({ objectRef, verb }) => objectRef?.resource === webhooks.plural && verb !== 'delete')
        .filter(({ objectRef }) => isWebhookOfOurs(objectRef?.name ?? ''))
        .map(({ responseStatus }) => responseStatus?.code ?? 0);
      return {
        successful: codes.filter((code) => code < 300).length,
        conflicts: codes.filter((code) => code === 409).length,
        versions: [...seen.values()].flat().length,
      };
    },

    versions: (name: string) => versionsOf(name).length,

    /** Returns a webhook's paths in order, without repetitions. */
    paths: (name: string): string[] => {
      const all = versionsOf(name).map((each) => each.webhooks[0]?.clientConfig.service?.path ?? '');
      return all.filter((path, index) => path !== all[index - 1]);
    },

    /** Returns the names of webhooks that were reset to an earlier version, separated by commas. */
    returned: (): string => {
      const isReturned = (versions: WebhookConfiguration[]): boolean =>
        new Set(versions.map((each) => JSON.stringify(each.webhooks))).size < versions.length;
      return [...seen].flatMap(([name, versions]) => (isReturned(versions) ? name : [])).join(', ');
    },

    bundle: (name: string) => versionsOf(name).at(-1)?.webhooks[0]?.clientConfig.caBundle ?? '',
  };
}
