import { deepEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { badInjectorConfigs, type BadInjectorConfig } from '../../src/api/testdata/bad-injector-configs.ts';
import { containersOf, refusalOf } from '../harness/admissions.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import { writeKubeconfig } from '../harness/control-plane.ts';
import { freePort } from '../harness/free-port.ts';
import {
  applyUntilReady,
  condition,
  eventsAbout,
  injectorConfig,
  smallConfig,
  waitForCondition,
} from '../harness/injector-configs.ts';
import type { Installation } from '../harness/installation.ts';
import { answersOk } from '../harness/managed-process.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';

export const resourceValidation: Scenario = {
  name: 'resource-validation',
  core: true,
  about: 'each invalid object, template or start causes one clear error, and affects no other revision',
  run: async (context) => {
    const installation = await context.install();
    const bySchema = await checkObjects(context, ['schema', 'rule']);
    const operator = await installation.startOperator();
    const byWebhook = await checkObjects(context, ['webhook']);
    const bystander = await applyUntilReady(context.client, smallConfig('bystander'));
    await checkTemplates(context, installation, operator);
    await checkStarts(context, installation, operator);
    await context.check('the conditions of another revision did not change', async () => {
      const now = await applyUntilReady(context.client, smallConfig('bystander'));
      deepEqual(now.status?.conditions, bystander.status?.conditions);
      return true;
    });
    return `${bySchema} invalid objects refused by schema and rules, ${byWebhook} by the validating webhook`;
  },
};

/** Creates invalid objects. Checks that each refusal names the field. Returns their number. */
async function checkObjects(context: ScenarioContext, refusedBy: BadInjectorConfig['refusedBy'][]) {
  const cases = badInjectorConfigs.filter((each) => refusedBy.includes(each.refusedBy));
  const wrong: string[] = [];
  const [first] = cases;
  if (refusedBy.includes('webhook') && first !== undefined) {
    // The API server starts to use the validating webhook shortly after the operator is ready.
    await context.check('the validating webhook refuses an invalid object', () => creationError(context, first));
  }
  for (const each of cases) {
    const message = await creationError(context, each);
    if (message === undefined) wrong.push(`${each.title}: accepted`);
    else if (!message.includes(each.field) || !each.message.test(message)) wrong.push(`${each.title}: ${message}`);
  }
  const refuser = refusedBy.includes('webhook') ? 'the validating webhook' : "the API server's schema and rules";
  await context.checkNow(`${refuser} refused ${cases.length} invalid InjectorConfigs and named each field`, () =>
    none(wrong),
  );
  return cases.length;
}

function creationError({ client }: ScenarioContext, { name = 'bad', spec }: BadInjectorConfig) {
  const object = { ...objectOf('sidecar-injector.io/v1alpha1', 'InjectorConfig', name), spec };
  return refusalOf(() => client.create(object, { dryRun: true }));
}

const badTemplate = 'spec:\n  containers:\n  - name: {{ .Values.name \n    image: x\n';

/** Checks that a template that does not parse is refused, and does no harm if it is stored. */
async function checkTemplates(context: ScenarioContext, installation: Installation, operator: OperatorProcess) {
  const { client } = context;
  const good = smallConfig('edited');
  const bad = injectorConfig('edited', { injection: { templates: { sidecar: badTemplate } }, webhook: {} });
  const namespace = await context.namespace('templates', { 'istio.io/rev': 'edited' });
  await applyUntilReady(client, good);
  const container = async () => (await containersOf(client, namespace)).join();
  await context.check('the valid template injects a pod', async () => found(await container(), 'edited,sleep'));

  const refused = await refusalOf(() => applyObject(client, bad));
  if (refused === undefined)
    context.say('the validating webhook accepts templates that do not parse; the operator reports them');
  else
    await context.checkNow('the validating webhook refuses a template that does not parse', () =>
      refused.includes('sidecar'),
    );

  // While the operator is dead, the API server skips the validating webhook.
  await operator.process.kill();
  const { metadata } = await applyObject(client, bad);
  await operator.restart();
  const reported = await waitForCondition(client, 'edited', 'TemplatesValid', 'False', metadata.generation);
  const message = condition(reported, 'TemplatesValid')?.message ?? '';
  context.say(`TemplatesValid=False: ${message}`);
  await context.checkNow('TemplatesValid names the template, the line and the column', () =>
    /sidecar: line \d+, column \d+/.test(message),
  );
  await context.check('the last valid template still injects a pod', async () =>
    found(await container(), 'edited,sleep'),
  );
  await context.check('a Warning Event on the InjectorConfig names the template', async () => {
    const events = await eventsAbout(client, 'edited');
    return events.some((event) => event.type === 'Warning' && event.message.includes('sidecar'));
  });

  const sidecar = 'spec:\n  containers:\n  - name: mended\n    image: x\n';
  await applyUntilReady(client, injectorConfig('edited', { injection: { templates: { sidecar } }, webhook: {} }));
  await context.check('the corrected template injects a pod', async () => found(await container(), 'mended,sleep'));
  await context.check('TemplatesValid is True again', () =>
    waitForCondition(client, 'edited', 'TemplatesValid', 'True'),
  );
  await context.checkNow('all operator processes run', () =>
    installation.operators.every(({ process }) => process.running),
  );
}

/** Starts the operator with a used port, a missing kubeconfig and an unreachable API server. */
async function checkStarts(context: ScenarioContext, installation: Installation, running: OperatorProcess) {
  const { run } = context.cluster;
  // If a flag is repeated, the last value counts.
  const flags = [`--webhook-port=${running.webhookPort}`];
  const inUse = await installation.launchOperator({ name: 'port-in-use', flags });
  await context.check('if its port is in use, the operator exits with an error that names the port', async () => {
    const { code } = await inUse.process.waitForEnd(15_000);
    return (
      code !== 0 &&
      errorLines(inUse).some((line) => line.includes(String(running.webhookPort)) && /in use|EADDRINUSE/.test(line))
    );
  });

  const kubeconfig = join(run.path, 'missing.kubeconfig');
  const missing = await installation.launchOperator({ name: 'no-kubeconfig', kubeconfig });
  await context.check('if the kubeconfig is missing, the operator exits and names the file', async () => {
    const { code } = await missing.process.waitForEnd(15_000);
    return code !== 0 && errorLines(missing).some((line) => line.includes('missing.kubeconfig'));
  });

  const port = await freePort();
  const unreachable = await installation.launchOperator({
    name: 'unreachable',
    kubeconfig: writeKubeconfig(join(run.path, 'unreachable.kubeconfig'), {
      cluster: { server: `https://127.0.0.1:${port}` },
      user: 'user',
      credentials: { token: 'none' },
    }),
  });
  await context.check('if the API server is unreachable, the operator logs an error that names its address', () =>
    errorLines(unreachable).some((line) => line.includes(`127.0.0.1:${port}`)),
  );
  await context.check(
    'if the API server is unreachable, the operator keeps running, is not ready and logs no stack trace',
    async () => {
      const ready = await answersOk(`http://127.0.0.1:${unreachable.healthPort}/readyz`);
      return unreachable.process.running && !ready && !unreachable.process.log().includes('    at ');
    },
  );
  await unreachable.process.kill();
}

/** Returns the log without debug lines and the harness's header. */
function errorLines(operator: OperatorProcess): string[] {
  return operator.process
    .log()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('--- ') && !/\bdebug\b/i.test(line));
}
