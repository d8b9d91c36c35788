/**
 * `make demo-quick`: shows an injected pod with the etcd and kube-apiserver of this machine
 * (KUBEBUILDER_ASSETS, PATH). Builds no programs, and runs no controllers and no kubelets.
 */
import { applyUntilReady, exampleConfig } from './harness/injector-configs.ts';
import { openCluster } from './harness/cluster.ts';
import { findPrograms } from './harness/control-plane.ts';
import { installChart } from './harness/installation.ts';
import { onInterrupt } from './harness/interrupt.ts';
import { containersIn } from './harness/pod.ts';
import { printFailure } from './harness/print-failure.ts';
import { barePod } from './harness/workloads.ts';

const namespace = 'demo';

async function main(): Promise<number> {
  const found = findPrograms();
  if (found === undefined) {
    console.error(
      'Neither KUBEBUILDER_ASSETS nor the PATH has etcd and kube-apiserver\n' +
        '(setup-envtest of controller-runtime downloads them). `make demo` builds everything itself.',
    );
    return 2;
  }
  const started = Date.now();
  const cluster = await openCluster({ found }, console.log);
  const stopInterrupting = onInterrupt(() => cluster.stop(true));
  let failed = true;
  try {
    const { client } = cluster;
    const labels = { 'istio-injection': 'enabled' };
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
    const show = async (name: string) => {
      const pod = await client.create(barePod(namespace, name));
      const images = containersIn(pod).map((container) => `${container.name} (${container.image})`);
      console.log(`   pod ${name}: ${images.join(', ')}`);
    };
    console.log(`1. ${found['kube-apiserver']}: a pod in a namespace labelled istio-injection=enabled`);
    await show('before');
    const installation = await installChart(cluster, 'sidecar-injector-system', { mode: 'all' });
    await installation.startOperator();
    await applyUntilReady(client, exampleConfig('hello.yaml'));
    console.log('2. the operator runs and examples/hello.yaml is Ready: the same pod, created again');
    await show('after');
    console.log(
      'Not shown: Deployments, running pods, restarts and rollouts, which need controllers and nodes; see `make demo`.',
    );
    failed = false;
  } finally {
    stopInterrupting();
    await cluster.stop(failed);
  }
  console.log(`done in ${((Date.now() - started) / 1000).toFixed(1)} s; nothing is left running`);
  return 0;
}

process.exit(await main().catch(printFailure));
