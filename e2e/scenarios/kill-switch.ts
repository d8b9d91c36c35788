import { containersOf, refusal } from '../harness/admissions.ts';
import { applyObject, isGone } from '../harness/apply.ts';
import { clusterFlags, type CommandResult, injectorOutput, runInjector } from '../harness/injector-command.ts';
import {
  conditionOf,
  deleteForced,
  injectorConfigs,
  smallConfig,
  waitForCondition,
} from '../harness/injector-configs.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { webhooks } from '../harness/webhook-configurations.ts';
import { barePod } from '../harness/workloads.ts';

export const killSwitch: Scenario = {
  name: 'kill-switch',
  core: true,
  about:
    'while the operator is dead and failurePolicy is Fail, injector disable lets pods start, and injector enable restores injection; spec.paused removes a webhook; an unreachable webhook is never published',
  destructive: 'it disables injectors of the whole cluster',
  run: async (context) => {
    const { client } = context;
    const installation = await context.install();
    const operator = await installation.startOperator();
    const first = await installed(context, 'first');
    const second = await installed(context, 'second');
    const namespaces = { first: await selected(context, 'first'), second: await selected(context, 'second') };
    for (const name of ['first', 'second'] as const)
      await checkContainers(context, `revision ${name} injects pods`, { [namespaces[name]]: 2 });

    await applyObject(client, smallConfig('unreached', { url: 'https://127.0.0.1:1' }));
    const { message } = await context.check('a webhook that the API server cannot reach is not published', async () => {
      const said = await conditionOf(client, 'unreached', 'WebhookReady');
      return said?.reason === 'NotReachable' && said;
    });
    context.say(message);
    const unreached = await selected(context, 'unreached');
    await context.check('pods of the unpublished revision start, and no probe webhook remains', async () => {
      const names = await webhookNames(context);
      const isClean = !names.some((each) => each.includes('probe-') || each === 'sidecar-injector-unreached');
      return isClean && (await refusal(client, barePod(unreached, 'pod'))) === undefined;
    });
    await deleteForced(client, smallConfig('unreached'));
    await context.check('the InjectorConfig unreached is deleted', () => isGone(client, injectorConfigs, 'unreached'));

    await operator.process.kill();
    for (const name of ['first', 'second'] as const) {
      await context.check(
        `negative control: pods of revision ${name} are refused while the operator is dead`,
        async () => (await refusal(client, barePod(namespaces[name], 'pod')))?.includes('failed calling webhook'),
      );
    }
    const { code } = await runInjector(['disable', 'frist', ...clusterFlags(context.cluster)]);
    await context.check('injector disable of an unknown revision has exit status 2', () => found(String(code), '2'));
    const { milliseconds: one, errors } = await injector(context, 'disable', 'first');
    await context.check('injector disable says what it does, in which namespaces, and how to undo it', () => {
      const does = 'pauses 1 InjectorConfig and deletes 1 webhook configuration: new pods start without their sidecar';
      return (
        errors.startsWith(`${does} in 1 namespace (${namespaces.first}), `) &&
        errors.includes('`injector enable first`')
      );
    });
    await checkContainers(context, 'pods of a disabled revision start without a sidecar', { [namespaces.first]: 1 });
    await context.check('pods of the other revision are still refused', () =>
      refusal(client, barePod(namespaces.second, 'pod')),
    );
    const { milliseconds: all } = await injector(context, 'disable', '--all');
    await checkContainers(context, 'pods start without a sidecar after disable --all', { [namespaces.second]: 1 });
    await context.check('the webhook configuration that owns all others still exists', async () => {
      const { owner } = installation;
      return owner === undefined || (await webhookNames(context)).includes(owner);
    });

    await operator.restart();
    await context.check('after a restart, the operator does not enable the disabled revisions', async () => {
      const ready = await conditionOf(client, 'second', 'Ready');
      return ready?.reason === 'Paused' && found((await ours(context)).join(), '');
    });
    const { milliseconds: enabled } = await injector(context, 'enable', '--all', '--timeout', '30');
    for (const name of ['first', 'second'] as const)
      await checkContainers(context, `revision ${name} injects pods`, { [namespaces[name]]: 2 });

    await client.patch(smallConfig('first'), 'merge', { spec: { paused: true } });
    await context.check('spec.paused makes a running operator remove the webhook', async () =>
      found((await ours(context)).join(), 'sidecar-injector-second'),
    );
    const counts = { [namespaces.first]: 1, [namespaces.second]: 2 };
    await checkContainers(context, 'only pods of the paused revision start without a sidecar', counts);
    await client.patch(smallConfig('first'), 'merge', { spec: { paused: false } });
    await checkContainers(context, 'revision first injects pods again', { [namespaces.first]: 2 });
    const { errors: printed } = await injector(context, 'disable', 'first', 'second');
    const undo = / to undo: `injector ([^`]+)`$/m.exec(printed)?.[1] ?? '';
    await context.checkNow('injector disable prints one command that undoes it', () =>
      found(undo, 'enable first second'),
    );
    await injector(context, ...undo.split(' '));
    const both = { [namespaces.first]: 2, [namespaces.second]: 2 };
    await checkContainers(context, 'after this command as printed, both revisions inject pods again', both);
    return `InjectorConfigs Ready ${first} and ${second} ms after apply; disabled in ${one} and ${all} ms, enabled in ${enabled} ms`;
  },
};

async function installed(context: ScenarioContext, name: string): Promise<number> {
  const began = Date.now();
  const { metadata } = await applyObject(context.client, smallConfig(name));
  await waitForCondition(context.client, name, 'Ready', 'True', metadata.generation);
  return Date.now() - began;
}

async function selected(context: ScenarioContext, name: string): Promise<string> {
  return context.namespace(name, { 'istio.io/rev': name });
}

/** Checks the number of containers of a new pod in each namespace: two if it has a sidecar. */
async function checkContainers(context: ScenarioContext, statement: string, counts: Record<string, number>) {
  await context.check(statement, async () => {
    const found = Object.keys(counts).map(async (each) => (await containersOf(context.client, each)).length);
    return (await Promise.all(found)).join() === Object.values(counts).join();
  });
}

async function webhookNames(context: ScenarioContext): Promise<string[]> {
  const { items } = await context.client.listAll(webhooks);
  return items.map(({ metadata }) => metadata.name ?? '');
}

async function ours(context: ScenarioContext): Promise<string[]> {
  return (await webhookNames(context)).filter((name) => name.startsWith('sidecar-injector-'));
}

/** Runs an `injector` command against the scenario's cluster. */
async function injector(context: ScenarioContext, ...argv: string[]): Promise<CommandResult> {
  const result = await injectorOutput([...argv, ...clusterFlags(context.cluster)]);
  context.say(`injector ${argv.join(' ')}: ${result.milliseconds} ms`);
  for (const line of result.out.trimEnd().split('\n')) context.say(`  ${line}`);
  return result;
}
