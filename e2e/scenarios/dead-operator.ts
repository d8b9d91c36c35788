import { refusal } from '../harness/admissions.ts';
import { applyObject, isTrue } from '../harness/apply.ts';
import { type CommandResult, clusterFlags, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { revisionTag, revisionTags } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none } from '../harness/wait-for.ts';
import { webhooks } from '../harness/webhook-configurations.ts';
import { barePod } from '../harness/workloads.ts';

/** The time limit of a command in milliseconds. A command reads an old Lease twice. */
const timeout = 20_000;

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
    for (const argv of commands) {
      await context.check(`injector ${argv.join(' ')} exits with 0 while the operator runs`, async () => {
        const { code, out, errors } = await injector(context, argv);
        return code === 0 || Promise.reject(new Error(`${code}: ${out}${errors}`));
      });
    }
    await operator.process.kill();
    const killed = Date.now();
    await context.check('negative control: pods are refused while the operator is dead', async () =>
      (await refusal(client, barePod(namespace, 'pod')))?.includes('failed calling webhook'),
    );
    await context.check(
      'injector status shows the time since which there is no leader',
      async () => /no leader since 20/.test((await injector(context, ['status'])).out),
      {
        timeout: 60_000,
      },
    );
    // The old status of a tag must not be reported as current, even if its webhook is missing.
    const prod = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'sidecar-injector-tag-prod' },
    };
    await client.delete(prod);
    let slowest = 0;
    for (const argv of commands) {
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
    }
    await operator.restart();
    await context.check(
      'after a restart, the operator creates the deleted webhook again',
      async () => (await client.find(webhooks, 'sidecar-injector-tag-prod')) !== undefined,
    );
    for (const argv of commands) {
      await context.check(
        `injector ${argv.join(' ')} exits with 0 again`,
        async () => (await injector(context, argv)).code === 0,
        { timeout: 60_000 },
      );
    }
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

function injector({ cluster }: ScenarioContext, argv: readonly string[]): Promise<CommandResult> {
  return runInjector([...argv, ...clusterFlags(cluster)]);
}
