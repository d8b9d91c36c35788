import { containersOf } from '../harness/admissions.ts';
import { applyAll, applyObject } from '../harness/apply.ts';
import {
  applyUntilReady,
  checkRefused,
  condition,
  conditionOf,
  exampleConfig,
  injectorConfig,
  injectorConfigs,
  waitForCondition,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { barePod, createDeployment } from '../harness/workloads.ts';
import { webhooks } from '../harness/webhook-configurations.ts';
import { istioConfig, istioConfigMaps, istioTexts } from './istio-templates/istio-texts.ts';
import { broken, doubtful } from './trial-render/templates.ts';

/** The InjectorConfig that works before each edit. */
const edited = 'edited';
const working = 'spec: {containers: [{name: working, image: example.com/working:1}]}';

export const trialRender: Scenario = {
  name: 'trial-render',
  about: 'templates that fail for every pod are never published; templates that may fail are published with a warning',
  destructive: 'it applies examples, which select pods by their own labels',
  run: async (context) => {
    await context.startOperator();
    for (const { title, said, ...injection } of broken) {
      const name = nameOf(title);
      await applyObject(context.client, injectorConfig(name, { injection }));
      await checkRefused(context, name, `${title} is not published, and TemplatesValid says why`, said);
      await context.checkNow(`${title} gets no webhook`, async () => {
        const { items } = await context.client.listAll(webhooks);
        return none(items.map(({ metadata }) => metadata.name ?? '').filter((each) => each.endsWith(name)));
      });
    }
    await checkEdits(context);
    for (const { title, said, ...injection } of doubtful) {
      const config = await applyUntilReady(context.client, injectorConfig(nameOf(title), { injection }));
      await context.checkNow(`${title} is published, and condition TemplatesDoubtful describes the problem`, () => {
        const doubt = condition(config, 'TemplatesDoubtful');
        return doubt?.status === 'True' && said.test(doubt.message) && doubt.message;
      });
    }
    await checkSampledPods(context);
    await checkUnknownPolicy(context);
    const fine = await checkNoWarnings(context);
    return `${broken.length} templates that fail for every pod were not published, either in a new InjectorConfig or as an edit; ${doubtful.length} doubtful templates were published with a warning, and ${fine} templates of Istio and the examples without a warning`;
  },
};

const nameOf = (title: string): string => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** Applies each broken template as an edit. Checks that pods are injected as before the edit. */
async function checkEdits(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const good = injectorConfig(edited, { injection: { templates: { sidecar: working } } });
  const before = await applyUntilReady(client, good);
  const namespace = await context.namespace('pods', { 'istio.io/rev': edited });
  for (const { title, said, ...injection } of broken) {
    await applyObject(client, injectorConfig(edited, { injection }));
    await checkRefused(context, edited, `as an edit, ${title} is not published, and TemplatesValid says why`, said);
    await context.checkNow(`after an edit to ${title}, pods are injected as before`, async () => {
      const { status } = await client.get<InjectorConfigObject>(injectorConfigs, edited);
      const containers = await containersOf(client, namespace);
      return status?.config?.hash === before.status?.config?.hash && containers.includes('working');
    });
  }
  await applyUntilReady(client, good);
}

/** Checks that a template that fails for only one Deployment is published with a warning. */
async function checkSampledPods(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const configWith = (template: string) =>
    injectorConfig('sampled', { injection: { templates: { sidecar: template } } });
  const doubt = () => conditionOf(client, 'sampled', 'TemplatesDoubtful');
  const before = await applyUntilReady(client, configWith(working));
  const namespace = await context.namespace('sampled', { 'istio.io/rev': 'sampled' });
  await createDeployment(client, namespace, 'api', { replicas: 2 });
  await createDeployment(client, namespace, 'web', { replicas: 2, labels: { team: 'shop' } });
  await applyObject(client, configWith(`{{ if index .ObjectMeta.Labels "team" }}{{ .Nmae }}{{ end }}${working}`));
  await context.check('TemplatesDoubtful names the Deployment for whose pods the template fails', async () => {
    const { status, message = '' } = (await doubt()) ?? {};
    const [, named = message] = /for 1 of 2 pods .* such as (.*?): .*Nmae/s.exec(message) ?? [];
    return status === 'True' && found(named, `Deployment ${namespace}/web`);
  });
  const after = await waitForCondition(client, 'sampled', 'Ready', 'True', 2);
  await context.checkNow('the edit is published', () => after.status?.config?.hash !== before.status?.config?.hash);
  await applyUntilReady(client, configWith(working));
  await context.check('a good template clears TemplatesDoubtful', async () => (await doubt())?.status === 'False');
}

/** Checks that the operator accepts an unknown policy, as Istio does, and warns. */
async function checkUnknownPolicy(context: ScenarioContext): Promise<void> {
  const { client, cluster } = context;
  const namespace = await context.namespace('policy', { 'istio.io/rev': 'policy' });
  const config = `policy: On\nalwaysInjectSelector: [{matchLabels: {a: on}}]\ntemplates: {sidecar: ${JSON.stringify(working)}}\n`;
  const metadata = { name: 'texts', namespace };
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { config, values: '{}' } });
  const configFrom = { namespace, name: 'texts', key: 'config' };
  const published = await applyUntilReady(client, injectorConfig('policy', { injection: { configFrom } }));
  const says = 'policy is "true", neither "enabled" nor "disabled": nothing is injected';
  await context.checkNow('the unknown policy On is published, and condition TemplatesDoubtful reports the policy', () =>
    found(condition(published, 'TemplatesDoubtful')?.message ?? '', `config: ${says}`),
  );
  await context.checkNow('with an unknown policy, pods that request injection get no sidecar', async () => {
    const labels = { 'sidecar.istio.io/inject': 'true', a: 'true' };
    return found((await containersOf(client, namespace, { labels })).join(), 'sleep');
  });
  await client.create(barePod(namespace, 'asks'));
  await context.checkNow('injector check reports the unknown policy', async () => {
    const { out } = await runInjector(['check', 'pod', 'asks', '-n', namespace, ...clusterFlags(cluster)]);
    return out.replaceAll(/\s+/g, ' ').includes('the policy is "true", neither') || found(out, says);
  });
}

/** Checks that Istio's templates and our examples cause no warnings. Returns their number. */
async function checkNoWarnings(context: ScenarioContext): Promise<number> {
  const { client } = context;
  const istio = await context.namespace('istio');
  await applyAll(client, istioConfigMaps(istio, 'istio', istioTexts().texts));
  const files = ['istio-1.1-release.yaml', 'istio-1.1-debug.yaml', 'kubesphere-logsidecar.yaml', 'revision-1-24.yaml'];
  const configs = [istioConfig(istio, 'istio'), ...files.map(exampleConfig)];
  for (const config of configs) {
    const { metadata } = await applyObject(client, config);
    await waitForCondition(client, metadata.name, 'TemplatesValid', 'True');
    await context.check(`the templates of ${metadata.name} have no warnings`, async () => {
      const doubt = await conditionOf(client, metadata.name, 'TemplatesDoubtful');
      return none(doubt?.status === 'True' ? [doubt.message] : []);
    });
  }
  return configs.length;
}
