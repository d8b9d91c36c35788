import { deepEqual } from 'node:assert/strict';
import { badInjectorConfigs, type BadInjectorConfig } from '../../src/api/testdata/bad-injector-configs.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { applyUntilReady, smallConfig, waitForCondition } from '../harness/injector-configs.ts';
import { checkOverlap } from './resource-validation/overlap.ts';
import { checkReviews } from './resource-validation/reviews.ts';
import { checkStarts } from './resource-validation/starts.ts';
import { checkTemplates } from './resource-validation/templates.ts';
import { dryRun } from '../harness/admissions.ts';
import { applyObject } from '../harness/apply.ts';
import { barePod } from '../harness/workloads.ts';

/** Bad input of every kind: one clear error where its owner looks, waiting where waiting helps, no other revision disturbed. */
export const resourceValidation: Scenario = {
  name: 'resource-validation',
  core: true,
  about: 'bad objects, templates, references, AdmissionReviews and starts: one clear error each, nobody else disturbed',
  paired: true,
  run: async (context) => {
    const installation = await context.install();
    const bySchema = await checkObjects(context, ['schema', 'rule']);
    const operator = await installation.startOperator();
    const byWebhook = await checkObjects(context, ['webhook']);
    const bystander = await applyUntilReady(context.client, smallConfig('bystander'));
    await checkTemplates(context, installation, operator);
    await checkReferences(context);
    await checkOverlap(context, operator);
    const reviews = await checkReviews(context, installation, operator);
    await checkStarts(context, installation, operator);
    await context.check('the other revision was Ready all the time', async () => {
      const now = await applyUntilReady(context.client, smallConfig('bystander'));
      deepEqual(now.status?.conditions, bystander.status?.conditions);
      return true;
    });
    return `${bySchema} objects refused by the API server, ${byWebhook} by the webhook; ${reviews} bad reviews answered`;
  },
};

/** Creates objects that must be refused, and reads whether the refusal names the field; returns how many were refused so. */
export async function checkObjects(
  context: ScenarioContext,
  refusedBy: BadInjectorConfig['refusedBy'][],
): Promise<number> {
  const cases = badInjectorConfigs.filter((each) => refusedBy.includes(each.refusedBy));
  const wrong: string[] = [];
  const [first] = cases;
  if (refusedBy.includes('webhook') && first !== undefined) {
    // It is published when the operator is ready; API servers learn of it a moment later.
    await context.check(
      'the validating webhook is in force',
      async () => (await creationError(context, first)) !== undefined,
    );
  }
  for (const each of cases) {
    const message = await creationError(context, each);
    if (message === undefined) wrong.push(`${each.title}: accepted`);
    else if (!message.includes(each.field) || !each.message.test(message)) wrong.push(`${each.title}: ${message}`);
  }
  const whom = refusedBy.includes('webhook') ? 'the validating webhook' : "the API server's own schema and rules";
  await context.checkNow(`${cases.length} bad InjectorConfigs are refused by ${whom}, each with its field`, () => {
    if (wrong.length > 0) throw new Error(`\n${wrong.join('\n')}`);
    return true;
  });
  return cases.length;
}

async function creationError(
  context: ScenarioContext,
  { name = 'bad', spec }: BadInjectorConfig,
): Promise<string | undefined> {
  try {
    const object = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig', metadata: { name }, spec };
    await context.client.create(object, { dryRun: true });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 422) return error.message;
    throw error;
  }
}

/** A reference to a ConfigMap that does not exist yet: said plainly, and mended by creating it. */
export async function checkReferences(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('references', { 'istio.io/rev': 'referring' });
  const config = smallConfig('referring');
  const template = 'spec:\n  containers:\n  - name: {{ .Values.name }}\n    image: x\n';
  config.spec.injection = {
    templates: { sidecar: template },
    valuesFrom: { namespace, name: 'values', key: 'values' },
  };
  const { metadata } = await applyObject(client, config);
  const waiting = await waitForCondition(client, 'referring', 'Ready', 'False', metadata.generation);
  const said = JSON.stringify(waiting.status?.conditions);
  await context.checkNow('a missing valuesFrom ConfigMap is named in a condition', () =>
    said.includes(String.raw`could not read valid configmap \"values\" from namespace \"${namespace}\"`),
  );
  await context.check(
    'meanwhile its pods start plain',
    async () => (await dryRun(client, barePod(namespace, 'pod'))).spec.containers.length === 1,
  );

  const values = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: 'values' },
    data: { other: '{}' },
  };
  await client.create(values);
  await context.check('so is a missing key', async () => {
    const { status } = await waitForCondition(client, 'referring', 'Ready', 'False', metadata.generation);
    return JSON.stringify(status?.conditions).includes('key');
  });
  await client.patch(values, 'merge', { data: { values: '{"name": "referred"}' } });
  await context.check('the ConfigMap appears: Ready', () => waitForCondition(client, 'referring', 'Ready', 'True'));
  await context.check('and its values are injected', async () =>
    (await dryRun(client, barePod(namespace, 'pod'))).spec.containers.some(({ name }) => name === 'referred'),
  );
  await client.patch(values, 'merge', { data: { values: '{"name": "changed"}' } });
  await context.check('an edit of the ConfigMap is followed', async () =>
    (await dryRun(client, barePod(namespace, 'pod'))).spec.containers.some(({ name }) => name === 'changed'),
  );
}
