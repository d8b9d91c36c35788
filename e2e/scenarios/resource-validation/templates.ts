import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import {
  applyUntilReady,
  condition,
  smallConfig,
  waitForCondition,
  type InjectorConfigObject,
} from '../../harness/injector-configs.ts';
import { found } from '../../harness/wait-for.ts';
import type { Installation } from '../../harness/installation.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';
import { ApiError } from '../../../src/kube/api-error.ts';

const badTemplate = 'spec:\n  containers:\n  - name: {{ .Values.name \n    image: x\n';

/** A template that does not parse: refused when somebody looks, and harmless when it gets in all the same. */
export async function checkTemplates(
  context: ScenarioContext,
  installation: Installation,
  operator: OperatorProcess,
): Promise<void> {
  const { client } = context;
  const good = smallConfig('edited');
  const bad: InjectorConfigObject = {
    ...good,
    spec: { ...good.spec, injection: { templates: { sidecar: badTemplate } } },
  };
  const namespace = await context.namespace('templates', { 'istio.io/rev': 'edited' });
  await applyUntilReady(client, good);
  const container = async () =>
    (await dryRun(client, barePod(namespace, 'pod'))).spec.containers
      .map(({ name }) => name)
      .sort()
      .join();
  await context.check('a good template injects', async () => found(await container(), 'edited,sleep'));

  const refused = await applyObject(client, bad).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refused === undefined)
    context.say('the validating webhook lets templates pass that do not parse; the operator reports them');
  else
    await context.checkNow(
      'the validating webhook refuses a template that does not parse',
      () => refused instanceof ApiError && /sidecar/.test(refused.message),
    );

  // With the operator away nobody checks: the validating webhook fails open.
  await operator.process.kill();
  const { metadata } = await applyObject(client, bad);
  await operator.restart();
  const reported = await waitForCondition(client, 'edited', 'TemplatesValid', 'False', metadata.generation);
  const message = condition(reported, 'TemplatesValid')?.message ?? '';
  context.say(`TemplatesValid=False: ${message}`);
  await context.checkNow('TemplatesValid names the template, the line and the column', () =>
    /sidecar: line \d+, column \d+/.test(message),
  );
  await context.check('the last good template still injects', async () => found(await container(), 'edited,sleep'));
  await context.check('an Event on the InjectorConfig says the same', async () => {
    const events = (await client.request(
      'GET',
      `/api/v1/events?fieldSelector=${encodeURIComponent('involvedObject.kind=InjectorConfig,involvedObject.name=edited,type=Warning')}`,
    )) as { items: { message: string }[] };
    return events.items.some((event) => event.message.includes('sidecar'));
  });

  const fixed = smallConfig('edited');
  fixed.spec.injection = { templates: { sidecar: 'spec:\n  containers:\n  - name: mended\n    image: x\n' } };
  await applyUntilReady(client, fixed);
  await context.check('a corrected template takes over', async () => found(await container(), 'mended,sleep'));
  await context.check('TemplatesValid is True again', () =>
    waitForCondition(client, 'edited', 'TemplatesValid', 'True'),
  );
  await context.checkNow('the operator is well', () => installation.operators.every(({ process }) => process.running));
}
