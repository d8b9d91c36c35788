import { setTimeout as sleep } from 'node:timers/promises';
import type { LabelSelectorRequirement } from '../../../src/api/kubernetes/kubernetes.ts';
import { objectNames } from '../../../src/api/names.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { containersOf } from '../../harness/admissions.ts';
import { describeEvent, type AuditEvent, type AuditLog } from '../../harness/audit-log.ts';
import { applyUntilReady, smallConfig, waitForCondition } from '../../harness/injector-configs.ts';
import type { Installation } from '../../harness/installation.ts';
import { repeat } from '../../harness/repeat.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import {
  redirected,
  webhookNamed,
  webhookOf,
  webhooks,
  type Webhook,
  type WebhookConfiguration,
} from '../../harness/webhook-configurations.ts';
import { checkContest } from './contest.ts';

const seconds = 3;
const betweenMs = 50;

/** Checks a tolerated writer of our webhooks, and a writer whose rule must not match them. */
export async function checkSecondWriters(context: ScenarioContext, installation: Installation): Promise<void> {
  await checkNarrowing(context);
  await checkIstiod(context, installation);
}

/** Reports whether a condition is True and its message contains a text. */
async function says(client: ApiClient, name: string, type: string, text: string): Promise<boolean> {
  const { status } = await waitForCondition(client, name, type, 'True');
  return status?.conditions?.some(({ message }) => message.includes(text)) === true;
}

/** Mimics AKS's admissions enforcer, which adds expressions to each namespaceSelector. */
async function checkNarrowing(context: ScenarioContext): Promise<void> {
  const name = 'narrowed';
  const { client } = context;
  await applyUntilReady(client, smallConfig(name));
  const configuration = objectNames(name).webhookConfiguration;
  const added: LabelSelectorRequirement = { key: 'control-plane', operator: 'NotIn', values: ['true'] };
  const narrowed = (webhook: Webhook): Webhook => ({
    ...webhook,
    namespaceSelector: { matchExpressions: [...webhook.namespaceSelector.matchExpressions, added] },
  });
  const { metadata, webhooks } = await webhookOf(client, name);
  const patched = await client.patch<WebhookConfiguration>(
    { ...webhookNamed(configuration), metadata },
    'merge',
    { webhooks: webhooks.map(narrowed) },
    { fieldManager: 'admissionsenforcer' },
  );
  await context.check('condition Narrowed names the tolerated field manager', () =>
    says(client, name, 'Narrowed', 'admissionsenforcer adds control-plane'),
  );
  await context.check('the operator does not change the narrowed selectors', async () => {
    const now = await webhookOf(client, name);
    return now.metadata.resourceVersion === patched.metadata.resourceVersion;
  });
  const changed = smallConfig(name);
  changed.spec.injection['templates'] = { sidecar: 'spec:\n  containers:\n  - name: other\n    image: other\n' };
  await applyUntilReady(client, changed);
  await context.check('the selectors stay narrowed when another configuration is published', async () => {
    const now = await webhookOf(client, name);
    return (
      now.metadata.resourceVersion !== patched.metadata.resourceVersion &&
      now.webhooks.every(({ namespaceSelector }) =>
        namespaceSelector.matchExpressions.some(({ key }) => key === added.key),
      )
    );
  });
}

/**
 * Mimics istiod, which writes its caBundle into webhooks whose name ends in
 * sidecar-injector.istio.io, in every webhook configuration with istiod's revision in label
 * istio.io/rev. A webhook configuration like Istio's proves that this works.
 */
async function checkIstiod(context: ScenarioContext, installation: Installation): Promise<void> {
  const name = 'beside';
  const { client } = context;
  await applyUntilReady(client, smallConfig(name));
  const configuration = objectNames(name).webhookConfiguration;
  const before = await webhookOf(client, name);
  const decoy = {
    ...before,
    metadata: { name: `istio-sidecar-injector-${name}`, labels: { 'istio.io/rev': name, app: 'sidecar-injector' } },
    webhooks: before.webhooks.slice(0, 1).map((webhook) => ({
      ...webhook,
      name: 'rev.namespace.sidecar-injector.istio.io',
      failurePolicy: 'Ignore',
      objectSelector: { matchLabels: { missing: 'everywhere' } },
    })),
  };
  await client.create(decoy);
  const audit = context.startAudit();
  let rewritten = 0;
  try {
    const stop = repeat(async (pause) => {
      const { items } = await client.listAll<WebhookConfiguration>(webhooks, { labelSelector: `istio.io/rev=${name}` });
      for (const item of items) {
        const rewrite = redirected(item, { caBundle: 'aXN0aW9k' });
        const webhooks = item.webhooks.map((webhook, index) =>
          webhook.name.endsWith('sidecar-injector.istio.io') ? rewrite[index] : webhook,
        );
        await client.patch(item, 'merge', { webhooks }, { fieldManager: 'pilot-discovery' });
        rewritten += 1;
      }
      await pause(betweenMs);
    });
    await sleep(seconds * 1000);
    await stop();
    await context.check("negative control: istiod's rule rewrites one of Istio's webhooks", async () => {
      const { webhooks: all } = await client.get<WebhookConfiguration>(webhooks, decoy.metadata.name);
      return rewritten > 0 && all[0]?.clientConfig.caBundle === 'aXN0aW9k';
    });
    await context.check("istiod's rule never matches our webhook, which no client has written", async () => {
      const now = await webhookOf(client, name);
      const writes = writesTo(configuration, audit, installation);
      return now.metadata.resourceVersion === before.metadata.resourceVersion && writes.length === 0;
    });
  } finally {
    await client.delete(decoy);
  }
}

const name = 'contended';
const hostileSeconds = 5;

/**
 * Checks a client that keeps writing a field of ours, like a second istiod with another root
 * (istio/istio#36478). The operator restores the field at most once per second, reports the
 * conflict, and wins when the client stops. Returns the number of the operator's writes.
 */
export async function checkHostileWriter(context: ScenarioContext, installation: Installation): Promise<number> {
  const { client } = context;
  await applyUntilReady(client, smallConfig(name));
  const configuration = objectNames(name).webhookConfiguration;
  const read = () => webhookOf(client, name);
  const original = await read();
  const audit = context.startAudit();
  const changed = redirected(original, { caBundle: 'bm90aGluZw==' });
  const { username } = installation;
  const write = () => client.patch(original, 'merge', { webhooks: changed }, { fieldManager: 'hostile' });
  const contest = { says: 'a hostile writer', seconds: hostileSeconds, audit, username, configuration, write };
  const writes = await checkContest(context, contest);
  const events = writesTo(configuration, audit, installation).map(describeEvent);
  context.say([...countBy(events)].map(([what, count]) => `${count} × ${what}`).join('\n      '));
  await context.check('condition Conflict names the hostile writer', () => says(client, name, 'Conflict', 'hostile'));
  await context.check('after the hostile writer stops, the operator restores the caBundle', async () => {
    return (await read()).webhooks[0]?.clientConfig.caBundle === original.webhooks[0]?.clientConfig.caBundle;
  });
  const namespace = await context.namespace('contended', { 'istio.io/rev': name });
  await context.check('new pods are injected', async () => (await containersOf(client, namespace)).includes(name));
  return writes;
}

function writesTo(configuration: string, audit: AuditLog | undefined, { username }: Installation): AuditEvent[] {
  return (audit?.writesBy(username, false) ?? []).filter(({ objectRef }) => objectRef?.name === configuration);
}

function countBy(values: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
