import { ApiClient } from '../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { containersOf, refusal } from '../harness/admissions.ts';
import { applyObject } from '../harness/apply.ts';
import type { AuditEvent } from '../harness/audit-log.ts';
import {
  applyUntilReady,
  checkRefused,
  conditionOf,
  injectorConfig,
  injectorConfigs,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import type { Installation } from '../harness/installation.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { serviceAccountKubeconfig } from '../harness/service-account.ts';
import { sideBySide } from '../harness/side-by-side.ts';
import { none } from '../harness/wait-for.ts';
import { webhooks } from '../harness/webhook-configurations.ts';
import { barePod, createDeployment } from '../harness/workloads.ts';
import { refusedTemplates, type RefusedTemplate } from './refused-templates/templates.ts';

/** The InjectorConfig that works before each edit. */
const edited = 'refused-edited';
const working = 'spec: {containers: [{name: working, image: example.com/working:1}]}';
const configOf = (name: string, sidecar: string): InjectorConfigObject =>
  injectorConfig(name, { injection: { templates: { sidecar } } });

export const refusedTemplatesScenario: Scenario = {
  name: 'refused-templates',
  about:
    'templates that compile and make invalid pods are never published, because the API server validates pods first',
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const audit = context.requireAudit();
    const installation = await context.install();
    await installation.startOperator();
    await checkFirst(context);
    await checkEdits(context);
    const dryRuns = audit.events().filter((event) => isDryRun(event, installation));
    await context.checkNow('every dry run was in the namespace of the operator', () => dryRuns.length > 0);
    const each = dryRuns.length / (2 * refusedTemplates.length + groups + 1);
    await context.checkNow(
      'a configuration costs at most 20 dry runs',
      () => each <= 20 && `${each.toFixed(1)} on average`,
    );
    const times = dryRuns.map(
      ({ requestReceivedTimestamp: from, stageTimestamp: to }) => Date.parse(to) - Date.parse(from),
    );
    const milliseconds = times.reduce((sum, time) => sum + time, 0) / times.length;
    context.measured({ dryRunsPerConfiguration: each, millisecondsPerDryRun: milliseconds });
    await checkReasons(context, installation);
    return `${refusedTemplates.length} templates whose pods are invalid were not published, either in a new InjectorConfig or as an edit; ${each.toFixed(1)} dry runs per configuration, ${milliseconds.toFixed(1)} ms each`;
  },
};

const nameOf = (title: string): string => `refused-${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`.slice(0, 46);

function isDryRun({ verb, requestURI, user, objectRef }: AuditEvent, { namespace, usernames }: Installation): boolean {
  const isOurs = usernames.includes(user.username) && objectRef?.namespace === namespace;
  return isOurs && verb === 'create' && objectRef.resource === 'pods' && requestURI.includes('dryRun=All');
}

async function checkFirst(context: ScenarioContext): Promise<void> {
  const { client } = context;
  for (const { title, template } of refusedTemplates) await applyObject(client, configOf(nameOf(title), template));
  for (const { title, said } of refusedTemplates) {
    const statement = `${title} is not published, and TemplatesValid has the API server's field and message`;
    await checkRefused(context, nameOf(title), statement, said);
  }
  await context.checkNow('none of these InjectorConfigs has a webhook', async () => {
    const names = (await client.listAll(webhooks)).items.map(({ metadata }) => metadata.name ?? '');
    return none(names.filter((each) => refusedTemplates.some(({ title }) => each.endsWith(nameOf(title)))));
  });
}

/** The number of InjectorConfigs that are edited at the same time. */
const groups = 5;

/** Applies each template as an edit. Checks that pods are injected as before the edit. */
async function checkEdits(context: ScenarioContext): Promise<void> {
  const edits = Array.from({ length: groups }, (_, group) => refusedTemplates.filter((_, at) => at % groups === group));
  await sideBySide(
    context,
    edits.map((templates, group) => checkGroup(context, group === 0 ? edited : `${edited}-${group}`, templates)),
  );
}

async function checkGroup(
  context: ScenarioContext,
  name: string,
  templates: readonly RefusedTemplate[],
): Promise<void> {
  const { client } = context;
  const before = await applyUntilReady(client, configOf(name, working));
  const namespace = await context.namespace(name, { 'istio.io/rev': name });
  for (const { title, template, said } of templates) {
    await applyObject(client, configOf(name, template));
    await checkRefused(context, name, `as an edit, ${title} is not published`, said);
    await context.checkNow(`after an edit to ${title}, pods are injected as before`, async () => {
      const { status } = await client.get<InjectorConfigObject>(injectorConfigs, name);
      return (
        status?.config?.hash === before.status?.config?.hash &&
        (await containersOf(client, namespace)).includes('working')
      );
    });
  }
  if (name !== edited) return;
  await createDeployment(client, namespace, 'web', { replicas: 1 });
  await applyUntilReady(client, configOf(name, working.replace(':1', ':2')));
}

/** Checks what the operator says if pods are not judged, and what its right allows. */
async function checkReasons(context: ScenarioContext, { namespace, workloads }: Installation): Promise<void> {
  const { client, cluster } = context;
  const judged = async (pattern: RegExp): Promise<string | undefined> => {
    const { status, reason, message } = (await conditionOf(client, edited, 'PodsNotValidated')) ?? {};
    const text = `${status}/${reason}: ${message}`;
    return pattern.test(text) ? text : undefined;
  };
  await context.check(
    'Pod Security refuses valid pods: the operator publishes, and says that they were not validated',
    () => judged(/^True\/DryRunRefused: .*violates PodSecurity/),
  );
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  await client.patch({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, 'merge', {
    metadata: { labels },
  });
  await applyUntilReady(client, configOf(edited, working.replace(':1', ':3')));
  await context.check('without Pod Security, all pods are validated', () => judged(/^False\/Validated/));
  const inJobs = working.replace(
    '}]}',
    '{{ if eq .Spec.RestartPolicy "Never" }}, volumeMounts: [{name: gone, mountPath: /a}]{{ end }}}]}',
  );
  await applyUntilReady(client, configOf(edited, inJobs));
  await context.check('a template that is invalid for Jobs only is published with a warning', async () => {
    const { status, message = '' } = (await conditionOf(client, edited, 'TemplatesDoubtful')) ?? {};
    return (
      status === 'True' &&
      /refuses 1 of 11 injected pods, such as a pod of a Job: .*Not found: "gone"/.test(message) &&
      message
    );
  });
  const kubeconfig = await serviceAccountKubeconfig(cluster, namespace, workloads[0]?.account ?? '', undefined);
  const leader = new ApiClient(loadKubeConfig({ kubeconfig }), { userAgent: 'e2e-leader' });
  context.atEnd(() => leader.close());
  const pod = barePod(namespace, 'real');
  await context.checkNow(
    'the leader may create a pod as a dry run',
    async () => (await refusal(leader, pod)) === undefined,
  );
  await context.checkNow('the leader may not create a pod', async () => {
    const message = await leader.create(pod).then(() => 'created', String);
    return /only as dry runs/.test(message) && message;
  });
}
