import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Proof } from '../../src/cli/adopt/proof.ts';
import { clusterFlags } from '../harness/injector-command.ts';
import { injectorConfig } from '../harness/injector-configs.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { startStubIstiod } from './adopt-istio/stub-istiod.ts';
import { createPods, measure } from './diff-scale/many-pods.ts';

const [workloads, replicas, namespaces] = [2000, 5, 20];
const bounds = { seconds: 300, megabytes: 300 };

export const adoptScale: Scenario = {
  name: 'adopt-scale',
  about: `injector adopt prove compares ${workloads} workloads with ${workloads * replicas} pods in at most ${bounds.seconds} s and ${bounds.megabytes} MB`,
  ownControlPlane: true,
  destructive: 'it stops the controllers',
  onlyGate: true,
  full: `${workloads} workloads with ${workloads * replicas} pods, 6 minutes`,
  run: async (context) => {
    const istiod = await startStubIstiod(context);
    await istiod.applyChart();
    await untilActive(context.client);
    await createPods(context, { workloads, replicas, namespaces, labels: { 'istio-injection': 'enabled' } });
    const configMap = (name: string, key: string) => ({ namespace: istiod.namespace, name, key });
    const injection = {
      configFrom: configMap('istio-sidecar-injector', 'config'),
      meshConfigFrom: configMap('istio', 'mesh'),
    };
    const file = join(context.cluster.run.path, 'adopted.json');
    writeFileSync(file, JSON.stringify(injectorConfig('default', { injection })));
    const prove = ['adopt', 'prove', '-f', file, '-i', istiod.namespace, '-o', 'json'];
    const { out, seconds, megabytes } = await measure([...prove, ...clusterFlags(context.cluster)], 0);
    const { summary } = JSON.parse(out) as Proof;
    await context.checkNow('every workload and every pod is in the proof, and none differs', () => {
      if ([summary.workloads, summary.pods, summary.changed].join() === [workloads, workloads * replicas, 0].join())
        return true;
      throw new Error(JSON.stringify(summary));
    });
    context.measured({ workloads, pods: workloads * replicas, seconds, megabytes });
    const figures = `${seconds} s and ${megabytes} MB`;
    await context.checkNow(`it takes at most ${bounds.seconds} s and ${bounds.megabytes} MB`, () => {
      if (seconds <= bounds.seconds && megabytes <= bounds.megabytes) return true;
      throw new Error(figures);
    });
    return `${workloads} workloads with ${workloads * replicas} pods: ${figures}`;
  },
};
