import { setTimeout as sleep } from 'node:timers/promises';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { injectorConfigs } from '../../harness/injector-configs.ts';
import { waitFor } from '../../harness/wait-for.ts';
import type { FaultyCluster } from './faulty-cluster.ts';

/** The API server is killed in the middle of an edit and comes back. */
export async function restartApiServer(cluster: FaultyCluster): Promise<void> {
  const direct = await cluster.prepareDirect();
  await cluster.edit();
  await cluster.plane.component('kube-apiserver').kill();
  await cluster.checkInjecting(direct, 'the API server is dead');
  await sleep(cluster.lasting(1000, 20_000));
  await cluster.checkInjecting(direct, 'the API server is still dead');
  await cluster.plane.restart('kube-apiserver');
  await cluster.checkReconverged('the API server is back', Date.now());
}

/** etcd stops and comes back: the API server runs, and nothing can be written. */
export async function stopEtcd(cluster: FaultyCluster): Promise<void> {
  const direct = await cluster.prepareDirect();
  await cluster.plane.component('etcd').stop();
  await cluster.checkInjecting(direct, 'etcd is stopped');
  await sleep(cluster.lasting(4000, 60_000));
  await cluster.checkInjecting(direct, 'etcd is still stopped');
  await cluster.plane.restart('etcd');
  await waitUntilStored(cluster);
  await cluster.edit();
  await cluster.checkReconverged('etcd is back', Date.now());
}

/** The API server has a connection to etcd for each resource, which it tries again later the longer etcd was away: the fault ends with the last of them. */
async function waitUntilStored({ context }: FaultyCluster): Promise<void> {
  const kinds = [
    injectorConfigs,
    resourceKind('coordination.k8s.io/v1', 'Lease'),
    resourceKind('rbac.authorization.k8s.io/v1', 'Role'),
    ...['ConfigMap', 'Secret', 'Service', 'Namespace', 'Pod'].map((kind) => resourceKind('v1', kind)),
    ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map((kind) =>
      resourceKind('admissionregistration.k8s.io/v1', kind),
    ),
  ];
  await waitFor(
    'the API server to read every resource from etcd',
    async () => {
      // Without a resourceVersion a list is read from etcd.
      await Promise.all(kinds.map((kind) => context.client.list(kind, { limit: 1, timeoutMs: 2000 })));
      return true;
    },
    { timeout: 180_000 },
  );
}

/** The controller-manager stops: nothing of ours needs it. */
export async function freezeControllerManager(cluster: FaultyCluster): Promise<void> {
  const manager = cluster.plane.component('kube-controller-manager');
  manager.freeze();
  try {
    const since = Date.now();
    await cluster.edit();
    await cluster.checkReconverged('the controller-manager is frozen', since);
    await sleep(cluster.lasting(0, 30_000));
  } finally {
    manager.unfreeze();
  }
}

/** Watches are cut, the cluster goes on without us, what they would resume from is compacted away: listed again. */
export async function expireWatches(cluster: FaultyCluster): Promise<void> {
  const { context, proxy, plane } = cluster;
  const expired = await cluster.watchesEnded('Expired');
  const cut = await proxy.fault({ match: { verbs: ['list', 'watch'] }, action: { kind: 'cut' } });
  await cluster.edit();
  // Something of every kind that is watched changes, so that each watch is behind.
  for (let index = 0; index < 3; index++) {
    await context.client.patch({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }, 'merge', {
      metadata: { labels: { 'e2e.sidecar-injector.io/moved': String(index) } },
    });
  }
  const { resourceVersion } = await context.client.list(injectorConfigs);
  await plane.compact(Number(resourceVersion));
  await plane.component('kube-apiserver').kill();
  await plane.restart('kube-apiserver');
  await context.client.list(resourceKind('v1', 'Namespace'));
  const met = await cut.end();
  const since = Date.now();
  await cluster.checkReconverged(`${met} lists and watches were cut, and their past is compacted`, since);
  await context.check('watches had expired, and were listed again', async () => {
    const now = await cluster.watchesEnded('Expired');
    return now > expired;
  });
}
