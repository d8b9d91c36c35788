import { setTimeout as sleep } from 'node:timers/promises';
import { found } from '../harness/wait-for.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { readyColumn } from '../harness/pod-table.ts';
import { barePod, deployment, podsOf, restartDeployment, waitForDeployment } from '../harness/workloads.ts';
import { componentNames } from '../harness/control-plane-commands.ts';

export const controlPlane: Scenario = {
  name: 'control-plane',
  about: 'the embedded control plane runs pods, makes marked pods fail, and recovers after a kill of each component',
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
    await context.check('a Deployment completes its rollout', () =>
      waitForDeployment(client, namespace, 'sleep').then(() => true),
    );
    const native = {
      initContainers: [
        { name: 'init', image: 'init' },
        { name: 'proxy', image: 'proxy', restartPolicy: 'Always' },
      ],
    };
    await client.create(barePod(namespace, 'native', { spec: native }));
    await context.check('the READY column counts a native sidecar', async () =>
      found(await column('native'), '2/2 Running'),
    );
    const outcome = (value: string) => ({ annotations: { 'e2e.sidecar-injector.io/outcome': value } });
    await client.create(barePod(namespace, 'unready', outcome('unready')));
    await client.create(barePod(namespace, 'crash', outcome('crash')));
    await context.check('a pod marked unready stays unready', async () => (await column('unready')) === '0/1 Running');
    await context.check('a pod marked crash goes into CrashLoopBackOff', async () => {
      const [pod] = await podsOf(client, namespace, 'crash');
      return pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff';
    });
    const markUnready = { metadata: { annotations: { 'e2e.sidecar-injector.io/outcome': 'unready' } } };
    await client.patch(barePod(namespace, 'native'), 'merge', markUnready);
    await context.check('a running pod that is marked unready becomes unready', async () =>
      found(await column('native'), '0/2 Running'),
    );

    const plane = context.requireControlPlane();
    const recoveries: string[] = [];
    for (const name of componentNames) {
      await plane.component(name).kill();
      const started = Date.now();
      await plane.restart(name);
      recoveries.push(`${name} ${((Date.now() - started) / 1000).toFixed(1)} s`);
      const rollsOut = () => restartDeployment(client, namespace, 'sleep').then(() => true);
      const statement = `a Deployment rolls out after ${name} was killed and restarted`;
      await context.check(statement, rollsOut, { timeout: 40_000 });
    }
    const scheduler = plane.component('kube-scheduler');
    scheduler.freeze();
    await client.create(barePod(namespace, 'waiting'));
    await sleep(500);
    await context.check('a pod stays Pending while the scheduler is frozen', async () =>
      found(await column('waiting'), '0/1 Pending'),
    );
    scheduler.unfreeze();
    const runs = async () => found(await column('waiting'), '1/1 Running');
    await context.check('the pod runs after the scheduler is unfrozen', runs);
    await plane.component('etcd').stop();
    const refused = await client.create(barePod(namespace, 'lost'), { timeoutMs: 2000 }).then(() => '', String);
    await context.checkNow('a write fails while etcd is stopped', () => refused !== '');
    await plane.restart('etcd');
    // The API server backs off: the longer etcd was down, the later it reconnects.
    await context.check('after etcd is restarted, the API server returns the earlier pod', runs, { timeout: 180_000 });
    return `seconds until each component ran again: ${recoveries.join(', ')}`;
  },
};
