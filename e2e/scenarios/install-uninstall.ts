import { chartKinds, releaseName } from '../../src/cli/install/find-releases.ts';
import { operatorKinds } from '../../src/cli/install/uninstall.ts';
import { listWhereKnown } from '../../src/cli/usage/installation.ts';
import { resourceKind, type ResourceKind } from '../../src/kube/resource-kinds.ts';
import { containersOf, refusal } from '../harness/admissions.ts';
import { isGone, objectOf } from '../harness/apply.ts';
import { clusterFlags, injectorOutput, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfigs, smallConfig, waitForCondition } from '../harness/injector-configs.ts';
import type { Installation } from '../harness/installation.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import type { Pod } from '../harness/pod.ts';
import { barePod, deployment, podsMatching, waitForDeployment, waitForEarlierScenarios } from '../harness/workloads.ts';

const name = 'install-uninstall';
const system = `${name}-system`;
const deployments = resourceKind('apps/v1', 'Deployment');
const definitions = resourceKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
const namespaces = resourceKind('v1', 'Namespace');

export const installUninstall: Scenario = {
  name,
  about:
    'injector install and uninstall work twice in a row, while pods run, and with the operator alive or dead; no object remains or hangs in deletion',
  destructive: 'it installs and uninstalls the operator and its CRDs',
  run: async (context) => {
    const { client } = context;
    await waitForEarlierScenarios(client);
    const injector = async (...argv: string[]): Promise<string> => {
      const { out, errors } = await injectorOutput([...argv, ...clusterFlags(context.cluster)]);
      return out + errors;
    };
    const install = (...flags: string[]) => injector('install', '-n', system, '--set', 'mode=all', ...flags);
    const preview = await install('--dry-run');
    await context.checkNow('install --dry-run changes nothing', () =>
      /Deployment .*would be created/.test(preview) ? isGone(client, namespaces, system) : false,
    );
    let [first, again] = ['', ''];
    const installation = await context.install({}, async () => ([first, again] = [await install(), await install()]));
    await context.checkNow('install lists the objects that it creates, and waits until the operator runs', () =>
      /CustomResourceDefinition .*: [^]*Deployment .*: 2 of 2 available[^]*runs in namespace/.test(first),
    );
    await context.checkNow('a second install changes nothing', () => !/: (?:created|configured|deleted)/.test(again));

    await installation.startOperator();
    await applyUntilReady(client, smallConfig('used'));
    await applyTagUntilReady(client, revisionTag('prod', 'used'));
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'prod' });
    const containers = async () => (await containersOf(client, namespace)).length;
    await client.create(deployment(namespace, 'web'));
    await waitForDeployment(client, namespace, 'web');
    await context.check('a pod is injected', async () => (await containers()) === 2);

    const [removal] = await Promise.all([injector('uninstall', '--yes'), endWithDeployment(context, installation)]);
    await context.checkNow('uninstall names the workloads that lose injection', () =>
      removal.includes(`${namespace} Deployment/web loses injection by used: 1 pod`),
    );
    await checkClean(context, namespace, [...operatorKinds, ...chartKinds]);
    await context.checkNow('uninstall keeps InjectorConfigs, and removes their finalizers', async () => {
      const { deletionTimestamp, finalizers = [] } = (await client.get(injectorConfigs, 'used')).metadata;
      return found([...finalizers, deletionTimestamp].join(), '');
    });
    await checkAnalysis(context, 'after uninstall');
    const twice = await injector('uninstall', '--yes');
    await context.checkNow('a second uninstall finds nothing', () => twice.startsWith('nothing to uninstall; '));

    const second = await (await context.install({}, () => install())).startOperator();
    await waitForCondition(client, 'used', 'Ready', 'True');
    await untilActive(client);
    await context.check('after another install, a pod is injected', async () => (await containers()) === 2);
    await second.process.kill();
    await context.check('negative control: pods are refused while the operator is dead', () =>
      refusal(client, barePod(namespace, 'pod')),
    );
    const purged = await injector('uninstall', '--purge', '--yes');
    await checkClean(context, namespace, [...operatorKinds, ...chartKinds, definitions]);
    await checkAnalysis(context, 'after uninstall --purge');
    const last = await injector('uninstall', '--purge', '--yes');
    await context.checkNow('a second uninstall --purge finds nothing', () => last === 'nothing to uninstall\n');
    const [made, removed, all] = [first, removal, purged].map((text) => text.match(/: (?:created|deleted)$/gm)?.length);
    return `${made} objects created; ${removed} objects removed while the operator was alive, ${all} while it was dead`;
  },
};

/** Stops the operator as a kubelet does: pods are deleted only after their process has ended. */
async function endWithDeployment({ client }: ScenarioContext, { workloads, operators }: Installation): Promise<void> {
  const { metadata, spec } = workloads[0]!.deployment;
  const setFinalizers = (finalizers: string[] | null) => async (pod: Pod) =>
    client.patch(objectOf('v1', 'Pod', pod.metadata.name ?? '', system), 'merge', { metadata: { finalizers } });
  const pods = await podsMatching(client, system, spec.selector.matchLabels);
  await Promise.all(pods.map(setFinalizers(['e2e.sidecar-injector.io/ends'])));
  await waitFor('the Deployment to be deleted', () =>
    isGone(client, deployments, metadata.name, { namespace: system }),
  );
  await Promise.all(operators.map(({ process }) => process.stop(30_000)));
  await Promise.all(pods.map(setFinalizers(null)));
}

async function checkAnalysis(context: ScenarioContext, when: string): Promise<void> {
  await context.checkNow(`${when}, analyze has one row, the installation, and exits with 1`, async () => {
    const { code, out } = await runInjector(['analyze', '-o', 'json', ...clusterFlags(context.cluster)]);
    const rows = (JSON.parse(out) as { reason: string; command: string }[]).map(
      ({ reason, command }) => `${reason}: ${command}`,
    );
    return found([code, ...rows].join(), '1,NotInstalled: injector install');
  });
}

async function checkClean(context: ScenarioContext, namespace: string, kinds: ResourceKind[]): Promise<void> {
  const { client } = context;
  await context.check(
    `no object of the operator remains among ${kinds.length} kinds, and its namespace is deleted`,
    async () => {
      const objects = (await Promise.all(kinds.map((kind) => listWhereKnown(client, kind)))).flat().map(releaseName);
      none(objects.filter((each) => each.includes('injector')));
      return isGone(client, namespaces, system);
    },
  );
  await untilActive(client);
  await context.checkNow('new pods start without a sidecar, and running pods are unchanged', async () => {
    const running = await podsMatching(client, namespace, { app: 'web' });
    const counts = running.map(({ spec }) => spec.containers.length);
    return found([...counts, (await containersOf(client, namespace)).length].join(), '2,1');
  });
}
