import { objectNames } from '../../../src/api/names.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { describeEvent } from '../../harness/audit-log.ts';
import { dryRun } from '../../harness/admissions.ts';
import { applyUntilReady, smallConfig, waitForCondition } from '../../harness/injector-configs.ts';
import type { Installation } from '../../harness/installation.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';
import { checkContest } from './contest.ts';

const name = 'contended';
const seconds = 5;

interface WebhookConfiguration extends KubernetesObject {
  webhooks: { clientConfig: { caBundle: string } }[];
}

/**
 * Another controller writes the same field again and again, as two istiods with different roots once did (istio/istio#36478):
 * the operator restores it once a second at most, says so, and has the last word when the other stops. Returns its writes.
 */
export async function checkHostileWriter(context: ScenarioContext, installation: Installation): Promise<number> {
  const { client } = context;
  await applyUntilReady(client, smallConfig(name));
  const kind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
  const configuration = objectNames(name).webhookConfiguration;
  const read = () => client.get<WebhookConfiguration>(kind, configuration);
  const original = await read();
  const audit = context.startAudit();
  const writes = await checkContest(context, {
    says: 'a hostile writer',
    seconds,
    audit,
    username: installation.username,
    configuration,
    write: () => {
      const webhooks = original.webhooks.map((webhook) => ({
        ...webhook,
        clientConfig: { ...webhook.clientConfig, caBundle: 'bm90aGluZw==' },
      }));
      return client.patch(original, 'merge', { webhooks }, { fieldManager: 'hostile' });
    },
  });
  const events = (audit?.writesBy(installation.username, false) ?? []).filter(
    ({ objectRef }) => objectRef?.name === configuration,
  );
  context.say([...countBy(events.map(describeEvent))].map(([what, count]) => `${count} × ${what}`).join('\n      '));
  await context.check('a Conflict condition names it', async () => {
    const { status } = await waitForCondition(client, name, 'Conflict', 'True');
    return status?.conditions?.some(({ message }) => message.includes('hostile'));
  });
  await context.check('it stops: the caBundle is ours again', async () => {
    return (await read()).webhooks[0]?.clientConfig.caBundle === original.webhooks[0]?.clientConfig.caBundle;
  });
  const namespace = await context.namespace('contended', { 'istio.io/rev': name });
  await context.check('and pods are injected', async () =>
    (await dryRun(client, barePod(namespace, 'pod'))).spec.containers.some((each) => each.name === name),
  );
  return writes;
}

function countBy(values: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
