import { setTimeout as sleep } from 'node:timers/promises';
import { labelNames, managedBy } from '../../src/api/labels.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { describeEvent, type AuditEvent } from '../harness/audit-log.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import type { Installation } from '../harness/installation.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { walkBasics } from './seed-walk/basics.ts';
import { walkDeletion } from './seed-walk/deletion.ts';
import { walkOutage } from './seed-walk/outage.ts';
import { walkRevisions } from './seed-walk/revisions.ts';
import { walkSelection } from './seed-walk/selection.ts';
import { dryRun, refusal } from '../harness/admissions.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { barePod } from '../harness/workloads.ts';

/** An operator with nothing to do writes nothing: a loop that repairs its own writes would show here. */
async function checkSilence(context: ScenarioContext, installation: Installation): Promise<void> {
  const earlier = context.startAudit();
  if (earlier === undefined) return;
  // What it has to do still after what went before ends some time; whoever repairs its own writes has never done.
  let [settledAt, before] = [Date.now(), 0];
  await waitFor('the operator to have nothing to do', () => {
    const writes = earlier.writesBy(installation.username, false).length;
    if (writes > before) [settledAt, before] = [Date.now(), writes];
    return Date.now() - settledAt >= 1000;
  });
  const audit = context.startAudit();
  if (audit === undefined) return;
  await sleep(2000);
  // What pods did before may show in a status half a minute later, once.
  const counted = new Set<string>();
  const isCount = ({ objectRef }: AuditEvent): boolean => {
    const { resource, subresource, name = '' } = objectRef ?? {};
    return (
      resource === 'injectorconfigs' && subresource === 'status' && !counted.has(name) && counted.add(name).has(name)
    );
  };
  const writes = audit
    .writesBy(installation.username, false)
    .filter((event) => !isCount(event))
    .map(describeEvent);
  await context.checkNow('an operator with nothing to do writes nothing but its lease', () =>
    found(writes.join('; '), ''),
  );
}

/** What the articles that this project started from tell about sidecar injection, on a real API server. */
export const seedWalk: Scenario = {
  name: 'seed-walk',
  core: true,
  about: 'the main job: labels, policy, opt-out, revisions, dry run, url, deletion, an operator that is killed',
  destructive:
    'it installs the default revision, which selects every namespace labelled istio-injection=enabled, and kills the operator',
  run: async (context) => {
    const installation = await context.install();
    const operator = await installation.startOperator();
    const times = await walkBasics(context);
    await checkSilence(context, installation);
    await walkSelection(context, operator);
    await walkRevisions(context, operator);
    await walkDeletion(context, installation);
    await walkOutage(context, operator);
    const memory = operator.residentMemory();
    await walkUninstall(context, installation);
    return `apply → Ready ${times.ready} ms, apply → first injected pod ${times.firstPod} ms, operator RSS ${memory} MiB`;
  },
};

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
