import { labelNames, managedBy } from '../../../src/api/labels.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { dryRun, refusal } from '../../harness/admissions.ts';
import { applyUntilReady, smallConfig } from '../../harness/injector-configs.ts';
import type { Installation } from '../../harness/installation.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';

/** The release goes while the operator is dead already: garbage collection takes the webhooks, so nobody waits for them. */
export async function walkUninstall(context: ScenarioContext, installation: Installation): Promise<void> {
  const { client } = context;
  await applyUntilReady(client, smallConfig('orphaned'));
  const namespace = await context.namespace('orphaned', { 'istio.io/rev': 'orphaned' });
  await Promise.all(installation.operators.map(({ process }) => process.kill()));
  await context.check(
    'the operator is dead, its webhooks refuse',
    async () => (await refusal(client, barePod(namespace, 'pod'))) !== undefined,
  );
  const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
  const { owner } = installation;
  if (owner === undefined) throw new Error('the chart passes no --owner to the operator');
  await client.delete({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: owner },
  });
  for (const kind of kinds) {
    await context.check(`the release's owner object goes: no ${kind} of ours is left`, async () => {
      const { items } = await client.listAll(resourceKind('admissionregistration.k8s.io/v1', kind), {
        labelSelector: `${labelNames.managedBy}=${managedBy}`,
      });
      return items.length === 0;
    });
  }
  await context.check(
    'and pods start plain',
    async () => (await dryRun(client, barePod(namespace, 'pod'))).spec.containers.length === 1,
  );
}
