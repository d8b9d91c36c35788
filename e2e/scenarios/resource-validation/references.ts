import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import { smallConfig, waitForCondition } from '../../harness/injector-configs.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';

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
  await context.check(
    'a missing valuesFrom ConfigMap is named in a condition',
    () => said.includes(String.raw`could not read valid configmap \"values\" from namespace \"${namespace}\"`),
    { timeout: 0 },
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
