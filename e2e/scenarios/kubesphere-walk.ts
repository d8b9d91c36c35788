import { calledWebhooks, dryRun, podCreations } from '../harness/admissions.ts';
import { isGone } from '../harness/apply.ts';
import {
  applyUntilReady,
  deleteForced,
  exampleConfig,
  injectorConfigs,
  smallConfig,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import { readyColumn } from '../harness/pod-table.ts';
import { runningContainers, type Pod } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found } from '../harness/wait-for.ts';
import { barePod, createDeployment, podsOf, restartDeployment } from '../harness/workloads.ts';

const workspace = { 'kubesphere.io/workspace': 'demo' };
const mesh = { 'istio.io/rev': 'istio-1-1' };

export const kubesphereWalk: Scenario = {
  name: 'kubesphere-walk',
  about: "KubeSphere's workspace selector injects a log sidecar into pods that also get a proxy, in both orders",
  destructive: 'its log sidecar selects every namespace labelled kubesphere.io/workspace',
  run: async (context) => {
    const { client } = context;
    await context.startOperator();
    await applyUntilReady(client, exampleConfig('kubesphere-logsidecar.yaml'));
    await walkWorkspaces(context);

    await applyUntilReady(client, exampleConfig('istio-1.1-release.yaml'));
    const namespace = await context.namespace('both', { ...workspace, ...mesh });
    await createDeployment(client, namespace, 'sleep');
    await checkBoth(context, namespace, 'if the proxy comes first', ['istio-1-1', 'logsidecar']);

    // The API server calls webhook configurations in the order of their names.
    await removeConfig(context, 'logsidecar');
    const renamed = exampleConfig('kubesphere-logsidecar.yaml');
    renamed.metadata.name = 'a-logsidecar';
    await applyUntilReady(client, renamed);
    await restartDeployment(client, namespace, 'sleep');
    await checkBoth(context, namespace, 'if the log sidecar comes first', ['a-logsidecar', 'istio-1-1']);

    const both = [renamed, exampleConfig('istio-1.1-release.yaml')];
    for (const config of both) await applyUntilReady(client, reinvoked(config));
    await restartDeployment(client, namespace, 'sleep');
    // The API server reinvokes both webhooks, because the ServiceAccount plugin changes the pod.
    const again = ['a-logsidecar', 'istio-1-1', 'a-logsidecar', 'istio-1-1'];
    await checkBoth(context, namespace, 'with reinvocationPolicy IfNeeded', again);

    await removeConfig(context, 'istio-1-1');
    await restartDeployment(client, namespace, 'sleep');
    await context.check("after the proxy's InjectorConfig is removed, pods get only the log sidecar", async () =>
      found((await containers(context, namespace)).join(), 'logsidecar,sleep'),
    );
    return 'one pod gets proxy and log sidecar in both orders and with reinvocation';
  },
};

async function walkWorkspaces(context: ScenarioContext): Promise<void> {
  const cases: [statement: string, labels: Record<string, string>, injected: boolean][] = [
    ['a pod in a namespace of a workspace gets the log sidecar', workspace, true],
    ['a pod in a namespace without a workspace gets no log sidecar', {}, false],
    ['an opt-out label prevents injection', { ...workspace, 'logging.kubesphere.io/logsidecar': 'disabled' }, false],
    ['labels of the mesh do not affect the log sidecar', { ...workspace, 'istio-injection': 'disabled' }, true],
  ];
  for (const [index, [statement, labels, injected]] of cases.entries()) {
    const namespace = await context.namespace(`workspace-${index}`, labels);
    const pod = await dryRun(context.client, barePod(namespace, 'app'));
    await context.checkNow(statement, () => runningContainers(pod).includes('logsidecar') === injected);
  }
}

/** Checks a pod with sidecars of two families, and the order in which webhooks were called. */
async function checkBoth(context: ScenarioContext, namespace: string, when: string, expected: string[]): Promise<void> {
  await context.check(`${when}, all three containers are ready`, async () => {
    const pods = await podsOf(context.client, namespace, 'sleep');
    return found(pods.map(readyColumn).join(), '3/3');
  });
  const called = await order(context, namespace);
  if (called !== undefined) {
    const names = expected.join(', ');
    await context.checkNow(`${when}, the API server calls ${names}`, () => found(called.join(', '), names));
  }
  const pod = await onlyPod(context, namespace);
  await context.check(`${when}, the pod has one proxy, one log sidecar and one application container`, async () =>
    found((await containers(context, namespace)).join(), 'istio-proxy,logsidecar,sleep'),
  );
  await context.checkNow(`${when}, the pod has the status and the volumes of each family`, () => {
    const annotations = Object.keys(pod.metadata.annotations ?? {});
    const volumes = (pod.spec.volumes ?? []).map(({ name }) => name);
    return (
      annotations.includes('sidecar.istio.io/status') &&
      annotations.includes('logging.kubesphere.io/status') &&
      ['app-logs', 'istio-envoy', 'istio-certs'].every((name) => volumes.filter((each) => each === name).length === 1)
    );
  });
}

async function onlyPod(context: ScenarioContext, namespace: string): Promise<Pod> {
  const [pod] = await podsOf(context.client, namespace, 'sleep');
  if (pod === undefined) throw new Error(`there is no pod of sleep in ${namespace}`);
  return pod;
}

async function containers(context: ScenarioContext, namespace: string): Promise<string[]> {
  return runningContainers(await onlyPod(context, namespace)).sort();
}

/** Returns the called webhook configurations in order; undefined if there is no audit log. */
async function order(context: ScenarioContext, namespace: string): Promise<string[] | undefined> {
  const audit = context.startAudit();
  await dryRun(context.client, barePod(namespace, 'order'));
  if (audit === undefined) return undefined;
  const called = podCreations(audit.events(), namespace).flatMap(calledWebhooks);
  return called.map((each) => (each.split('/')[0] ?? '').replace(/^sidecar-injector-/, ''));
}

async function removeConfig(context: ScenarioContext, name: string): Promise<void> {
  await deleteForced(context.client, smallConfig(name));
  await context.check(`InjectorConfig ${name} is removed`, () => isGone(context.client, injectorConfigs, name));
  await untilActive(context.client);
}

function reinvoked(config: InjectorConfigObject): InjectorConfigObject {
  return { ...config, spec: { ...config.spec, webhook: { ...config.spec.webhook, reinvocationPolicy: 'IfNeeded' } } };
}
