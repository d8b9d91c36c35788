import { setTimeout as sleep } from 'node:timers/promises';
import { found } from '../harness/wait-for.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { readyColumn } from '../harness/pod-table.ts';
import { barePod, deployment, podsOf, restartDeployment, waitForDeployment } from '../harness/workloads.ts';
import { componentNames } from '../harness/control-plane-commands.ts';

export const controlPlane: Scenario = {
  name: 'control-plane',
  about: 'the embedded control plane: pods run, fail and end; each component is killed and comes back',
  destructive: 'it kills the components of the control plane',
  ownControlPlane: true,
  run: async (context) => {
    const { client } = context;
    const namespace = await context.namespace('pods');
    const column = async (name: string) => {
      const [pod] = await podsOf(client, namespace, name);
      return pod === undefined ? '' : `${readyColumn(pod)} ${pod.status?.phase ?? ''}`;
    };

    await client.create(deployment(namespace, 'sleep', { replicas: 2 }));
    await context.check('a Deployment becomes complete', () =>
      waitForDeployment(client, namespace, 'sleep').then(() => true),
    );
    const native = {
      initContainers: [
        { name: 'init', image: 'init' },
        { name: 'proxy', image: 'proxy', restartPolicy: 'Always' },
      ],
    };
    await client.create(barePod(namespace, 'native', { spec: native }));
    await context.check(
      'a native sidecar counts among the ready containers',
      async () => (await column('native')) === '2/2 Running',
    );
    const outcome = (value: string) => ({ annotations: { 'e2e.sidecar-injector.io/outcome': value } });
    await client.create(barePod(namespace, 'unready', outcome('unready')));
    await client.create(barePod(namespace, 'crash', outcome('crash')));
    await context.check('a pod with a marker stays unready', async () => (await column('unready')) === '0/1 Running');
    await context.check('a pod with another marker crashes', async () => {
      const [pod] = await podsOf(client, namespace, 'crash');
      return pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff';
    });
    const markUnready = { metadata: { annotations: { 'e2e.sidecar-injector.io/outcome': 'unready' } } };
    await client.patch(barePod(namespace, 'native'), 'merge', markUnready);
    await context.check(
      'a running pod that is marked becomes unready',
      async () => (await column('native')) === '0/2 Running',
    );

    const { controlPlane: plane } = context.cluster;
    if (plane === undefined) throw new Error('this scenario needs the embedded control plane');
    const restarts: string[] = [];
    for (const name of componentNames) {
      await plane.component(name).kill();
      const started = Date.now();
      await plane.restart(name);
      restarts.push(`${name} ${((Date.now() - started) / 1000).toFixed(1)} s`);
      await context.check(
        `${name} was killed and is back: a Deployment rolls out again`,
        () => restartDeployment(client, namespace, 'sleep').then(() => true),
        { timeout: 40_000 },
      );
    }
    const scheduler = plane.component('kube-scheduler');
    scheduler.freeze();
    await client.create(barePod(namespace, 'waiting'));
    await sleep(500);
    await context.check('a frozen scheduler: a pod stays Pending', async () =>
      found(await column('waiting'), '0/1 Pending'),
    );
    scheduler.unfreeze();
    await context.check('it goes on: the pod runs', async () => found(await column('waiting'), '1/1 Running'));
    await plane.component('etcd').stop();
    const refused = await client.create(barePod(namespace, 'lost'), { timeoutMs: 2000 }).then(() => '', String);
    await context.checkNow('a stopped etcd: nothing can be written', () => refused !== '');
    await plane.restart('etcd');
    await context.check(
      'it is back: what was written before is there',
      async () => found(await column('waiting'), '1/1 Running'),
      // The API server tries its connections to etcd again the later the longer etcd was away.
      { timeout: 180_000 },
    );
    return `back after kill: ${restarts.join(', ')}`;
  },
};
