import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { labelNames, managedBy, objectNames, replicaLeaseName, validatorNames } from '../../src/api/names.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, isGone, objectOf } from '../harness/apply.ts';
import {
  applyUntilReady,
  deleteForced,
  injectorConfigs,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import { applyTagUntilReady, removeTag, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { waitFor } from '../harness/wait-for.ts';
import { validatingWebhooks, webhookNamed, webhooks } from '../harness/webhook-configurations.ts';
import { createAll, nameOf, workload } from '../harness/workload-kinds.ts';
import { WorkloadObserver } from '../harness/workload-observer/workload-observer.ts';
import { barePod } from '../harness/workloads.ts';
import { withProxyConfigs } from './istio-templates/proxy-config-definition.ts';

export const leastPrivilege: Scenario = {
  name: 'least-privilege',
  about:
    'the audit log of the whole run shows that no request of the operator was forbidden, and that the operator used every right in the chart',
  destructive: 'it needs the embedded control plane and its audit log',
  last: true,
  run: async (context) => {
    const { rights } = context;
    const audit = context.startAudit();
    if (rights.count === 0 || rights.unused().length > 0) await walkEverything(context);
    context.collectRights(audit);
    for (const right of rights.unused()) context.say(`unused: ${right}`);
    await context.checkNow(
      `the operator used each of ${rights.count} rights (verb, resource, role)`,
      () => rights.count > 0 && rights.unused().length === 0,
    );
    for (const refusal of rights.refusals) context.say(`refused: ${refusal}`);
    await context.checkNow('no request of the operator was forbidden', () => rights.refusals.size === 0);
    return `${rights.count} rights: the operator used every right, and needed no other right`;
  },
};

const name = 'walked';

/** Makes the operator use each of its rights. The removal of a stale Lease takes longest. */
async function walkEverything(context: ScenarioContext): Promise<void> {
  const { client } = context;
  await withProxyConfigs(client, async () => {
    const values = { operator: { restartWorkloads: true } };
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags: [shortLeases] }, values);
    const { namespace } = replicas.installation;
    await createStaleLease(context, namespace);
    const config = await referringConfig(context);
    await applyUntilReady(client, config);
    await applyTagUntilReady(client, revisionTag('walked-tag', name));
    await removeTag(client, 'walked-tag');
    await addForeignParts(context, namespace);
    // A second repair repeats the Event. The operator writes the Event's count half a minute later.
    await addForeignParts(context, namespace);
    await restartEachKind(context);
    const isRemoved = () => isGone(client, resourceKind('coordination.k8s.io/v1', 'Lease'), staleLease, { namespace });
    await waitFor('the stale Lease of a replica to be removed', isRemoved, { timeout: 120_000 });
    await waitFor('the count of an Event to increase', () => hasCountedEvent(context), { interval: 500 });
    // On SIGTERM, all processes release their Leases.
    await Promise.all(replicas.all.map(({ operator }) => operator.process.stop(30_000)));
    const inCluster = await replicas.installation.launchOperator({ role: 'controller', advertiseHost: undefined });
    await addForeignPort(context, namespace);
    await deleteForced(client, config);
    await waitFor('the InjectorConfig and its webhook to be deleted', async () => {
      const isWithdrawn = await isGone(client, webhooks, objectNames(name).webhookConfiguration);
      return isWithdrawn && isGone(client, injectorConfigs, name);
    });
    await inCluster.process.stop();
  });
}

async function hasCountedEvent({ client }: ScenarioContext): Promise<boolean> {
  interface Event extends KubernetesObject {
    readonly regarding?: { readonly name?: string };
    readonly series?: { readonly count: number };
  }
  // Events of cluster-scoped objects are in the namespace default.
  const { items } = await client.listAll<Event>(resourceKind('events.k8s.io/v1', 'Event'), { namespace: 'default' });
  return items.some(({ regarding, series }) => regarding?.name === name && (series?.count ?? 0) > 1);
}

const staleLease = replicaLeaseName('gone');

async function createStaleLease(context: ScenarioContext, namespace: string): Promise<void> {
  const labels = {
    [labelNames.managedBy]: managedBy,
    [labelNames.operatorClass]: 'default',
    [labelNames.replica]: 'default',
  };
  const metadata = { name: staleLease, namespace, labels };
  const spec = { holderIdentity: 'gone', leaseDurationSeconds: 1 };
  await context.client.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
}

async function referringConfig(context: ScenarioContext): Promise<InjectorConfigObject> {
  const namespace = await context.namespace('values');
  const configMap = objectOf('v1', 'ConfigMap', 'values', namespace);
  await applyObject(context.client, { ...configMap, data: { values: '{"mark": "one"}' } });
  const config = markedConfig(name, 'one');
  const { injection } = config.spec;
  config.spec.injection = { ...injection, values: undefined, valuesFrom: { namespace, name: 'values', key: 'values' } };
  return config;
}

const tag = 'walked-restarts';

async function restartEachKind(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const [old, next] = [markedConfig('walked-old', 'old'), markedConfig('walked-next', 'next')];
  await applyUntilReady(client, old);
  await applyUntilReady(client, next);
  await applyTagUntilReady(client, revisionTag(tag, 'walked-old'));
  const namespace = await context.namespace('restarted', { 'istio.io/rev': tag });
  const observer = await WorkloadObserver.open(context, (each) => each === namespace);
  const kinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
  const objects = kinds.map((kind) => workload(kind, namespace, kind.toLowerCase()));
  await createAll(context, objects);
  await createRefused(context);
  const areWholeBy = (maker: string) => () => objects.every((each) => observer.isWholeBy(nameOf(each), maker));
  await waitFor('a workload of each kind to be ready', areWholeBy('walked-old'));
  const restart = { maxUnavailableWorkloads: 3, perNamespace: 3, minReadySeconds: 0 };
  await applyTagUntilReady(client, revisionTag(tag, 'walked-next', { strategy: { restart } }));
  await waitFor('each workload to be restarted', areWholeBy('walked-next'));
  await removeTag(client, tag);
  await deleteForced(client, old);
  await deleteForced(client, next);
}

/** Creates an object of each kind whose pods are refused (Pod Security). The restarts read them. */
async function createRefused(context: ScenarioContext): Promise<void> {
  const labels = { 'istio.io/rev': tag, 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespace = await context.namespace('refused', labels);
  const objects = (['Deployment', 'StatefulSet', 'DaemonSet'] as const).map((kind) =>
    workload(kind, namespace, 'refused'),
  );
  const job = objectOf('batch/v1', 'Job', 'refused', namespace);
  const spec = { ...barePod(namespace, 'refused').spec, restartPolicy: 'Never' };
  await createAll(context, [...objects, { ...job, spec: { template: { spec } } }]);
}

/** The operator's minimum pause between repairs of an object, with a margin, in milliseconds. */
const pause = 1100;
const mark = 'foreign';

/** Adds another client's entries to our objects. Server-side apply alone would keep them. */
async function addForeignParts(context: ScenarioContext, namespace: string): Promise<void> {
  const names = objectNames(name);
  const webhook = {
    name: `${mark}.example.com`,
    clientConfig: { url: 'https://foreign.example.com/' },
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const addWebhook = [{ op: 'add', path: '/webhooks/-', value: webhook }];
  const validator = objectOf(
    'admissionregistration.k8s.io/v1',
    validatingWebhooks.kind,
    validatorNames('default').webhookConfiguration,
  );
  const parts: [target: KubernetesObject, patch: object][] = [
    [objectOf('v1', 'ConfigMap', names.configMap, namespace), { data: { [mark]: 'x' } }],
    [objectOf('v1', 'Secret', names.servingSecret, namespace), { data: { [mark]: 'eA==' } }],
    [webhookNamed(names.webhookConfiguration), addWebhook],
    [validator, addWebhook],
  ];
  for (const [target, patch] of parts) await add(context, target, patch);
  for (const [target] of parts) await waitUntilRemoved(context, target);
  await sleep(pause);
}

/** Adds another client's port to the Service. A Service has ports only if its backends are pods. */
async function addForeignPort(context: ScenarioContext, namespace: string): Promise<void> {
  const service = objectOf('v1', 'Service', objectNames(name).service, namespace);
  const port = [{ op: 'add', path: '/spec/ports/-', value: { name: mark, port: 1234, protocol: 'TCP' } }];
  await waitFor('the Service to have ports', () => add(context, service, port).then(() => true));
  await waitUntilRemoved(context, service);
}

async function add({ client }: ScenarioContext, target: KubernetesObject, patch: object): Promise<void> {
  await client.patch(target, Array.isArray(patch) ? 'json' : 'merge', patch, { fieldManager: 'other' });
}

async function waitUntilRemoved({ client }: ScenarioContext, target: KubernetesObject): Promise<void> {
  const { apiVersion, kind, metadata } = target;
  const { name = '', namespace } = metadata;
  await waitFor(`the foreign part to be removed from ${kind} ${name}`, async () => {
    const live = await client.get(resourceKind(apiVersion, kind), name, { namespace });
    return !JSON.stringify({ ...live, metadata: {} }).includes(mark);
  });
}
