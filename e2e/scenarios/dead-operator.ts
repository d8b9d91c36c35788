import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { refusal } from '../harness/admissions.ts';
import { applyObject, isTrue, objectOf } from '../harness/apply.ts';
import { type CommandResult, clusterFlags, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { revisionTag, revisionTags } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';
import { webhookNamed, webhooks } from '../harness/webhook-configurations.ts';
import { barePod } from '../harness/workloads.ts';
import { inBatches } from './label-truth-table/rows.ts';

/** The time limit of a command in milliseconds. A command reads an old Lease twice. */
const timeout = 20_000;
/** The number of concurrent commands. Each waits for seconds to read a Lease twice. */
const concurrency = 5;

export const deadOperator: Scenario = {
  name: 'dead-operator',
  about:
    'after every replica is killed, each command that reports the current state says that there is no leader and exits with 1; after a restart, the operator restores its webhooks and the commands exit with 0',
  destructive: 'it creates a RevisionTag and kills the operator',
  run: async (context) => {
    const { client } = context;
    const operator = await context.startOperator();
    await applyUntilReady(client, smallConfig('alive'));
    await applyObject(client, revisionTag('prod', 'alive'));
    await context.check('the tag is Ready', async () => isTrue(await client.get(revisionTags, 'prod'), 'Ready'));
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'prod' });
    const commands = commandsOf(namespace);
    await inBatches(commands, concurrency, (argv) =>
      context.check(`injector ${argv.join(' ')} exits with 0 while the operator runs`, async () => {
        const { code, out, errors } = await injector(context, argv);
        return code === 0 || Promise.reject(new Error(`${code}: ${out}${errors}`));
      }),
    );
    await operator.process.kill();
    const killed = Date.now();
    await context.check('negative control: pods are refused while the operator is dead', async () =>
      (await refusal(client, barePod(namespace, 'pod')))?.includes('failed calling webhook'),
    );
    await ageLeases(context);
    await context.check('injector status shows the time since which there is no leader', async () =>
      /no leader since 20/.test((await injector(context, ['status'])).out),
    );
    await context.check(
      'injector status says what happens to new pods with the policy of the live webhooks',
      async () =>
        (await injector(context, ['status'])).out.includes('the API server refuses pods that webhooks select'),
    );
    // The old status of a tag must not be reported as current, even if its webhook is missing.
    await client.delete(webhookNamed('sidecar-injector-tag-prod'));
    let slowest = 0;
    await inBatches(commands, concurrency, async (argv) => {
      const { code, out, errors, milliseconds } = await injector(context, argv);
      slowest = Math.max(slowest, milliseconds);
      await context.checkNow(`injector ${argv.join(' ')} says that there is no leader, and exits with 1`, () => {
        const text = out + errors;
        const wrong = [
          code === 1 ? '' : `exits with ${code}`,
          /no leader since 20/.test(text) ? '' : 'does not say that there is no leader',
          /\bTrue\b|: Ready\b|WebhookReady$|"ready": true| Injected /m.test(text) ? 'shows an old status' : '',
          milliseconds < timeout ? '' : `takes ${milliseconds} ms`,
        ].filter(Boolean);
        return none(wrong.map((each) => `${each}: ${text}`));
      });
    });
    await operator.restart();
    await context.check('after a restart, the operator creates the deleted webhook again', () =>
      client.find(webhooks, 'sidecar-injector-tag-prod'),
    );
    await inBatches(commands, concurrency, (argv) =>
      context.check(`injector ${argv.join(' ')} exits with 0 again`, async () =>
        found(String((await injector(context, argv)).code), '0'),
      ),
    );
    return `each of ${commands.length} commands says within ${slowest} ms that there is no leader; all commands exit with 0 again ${Math.round((Date.now() - killed) / 1000)} s after the kill`;
  },
};

function commandsOf(namespace: string): string[][] {
  return [
    ['status'],
    ['revisions'],
    ['revisions', '-o', 'json'],
    ['tag', 'list'],
    ['check', `namespace/${namespace}`],
    ['analyze', '-n', namespace],
    ['certs', 'status'],
    ['certs', 'status', '-o', 'json'],
    ['enable', '--all', '--timeout', '2'],
  ];
}

/**
 * Subtracts 30 s from the last renewal of the dead operator's Leases. The commands read a Lease
 * twice only if its renewal is older than 20 s.
 */
async function ageLeases({ client }: ScenarioContext): Promise<void> {
  const held = (await client.listAll<Lease>(leases)).items.filter(({ spec }) => (spec?.holderIdentity ?? '') !== '');
  const ours = held.filter(({ metadata }) => metadata.namespace === 'dead-operator-system');
  if (ours.length !== 2) throw new Error(`the leader and the replica have ${ours.length} Leases instead of 2`);
  for (const { metadata, spec } of ours) {
    const renewTime = new Date(Date.parse(spec?.renewTime ?? '') - 30_000).toISOString().replace('Z', '000Z');
    const target = objectOf('coordination.k8s.io/v1', 'Lease', metadata.name ?? '', metadata.namespace);
    await client.patch(target, 'merge', { spec: { renewTime } });
  }
}

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');
type Lease = KubernetesObject & { spec?: { holderIdentity?: string; renewTime?: string } };

function injector({ cluster }: ScenarioContext, argv: readonly string[]): Promise<CommandResult> {
  return runInjector([...argv, ...clusterFlags(cluster)]);
}
