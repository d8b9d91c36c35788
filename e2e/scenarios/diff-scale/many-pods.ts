import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { paths } from '../../harness/paths.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, neverScheduled } from '../../harness/workloads.ts';
import { inBatches } from '../label-truth-table/rows.ts';

export interface ManyPods {
  readonly workloads: number;
  /** The pods of each workload. */
  readonly replicas: number;
  /** The number of namespaces, and their labels. */
  readonly namespaces: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** Creates pods as the controllers would; they are stopped, because the owners do not exist. */
export async function createPods(
  context: ScenarioContext,
  { workloads, replicas, namespaces, labels }: ManyPods,
): Promise<void> {
  const names: string[] = [];
  for (let index = 0; index < namespaces; index += 1) names.push(await context.namespace(`${index}`, labels));
  await context.requireControlPlane().component('kube-controller-manager').kill();
  const hash = '5f6d4c7b98';
  const indexes = Array.from({ length: workloads * replicas }, (_, index) => index);
  await inBatches(indexes, 16, async (index) => {
    const app = `w${index % workloads}`;
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-${hash}`, uid: app, controller: true };
    const pod = barePod(names[index % namespaces] ?? '', `${app}-${hash}-${index}`, {
      labels: { app, 'pod-template-hash': hash },
      spec: neverScheduled,
    });
    const metadata = { ...pod.metadata, generateName: `${app}-${hash}-`, ownerReferences: [owner] };
    await context.client.create({ ...pod, metadata });
  });
}

/** Runs the bundled program alone. A megabyte is 10^6 bytes. */
export async function measure(argv: readonly string[], status = 3) {
  const atExit = 'process.on("exit", () => process.stderr.write(`\\n${process.resourceUsage().maxRSS}`))';
  const began = Date.now();
  const child = spawn(process.execPath, ['--import', `data:text/javascript,${atExit}`, paths.injector, ...argv]);
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const seconds = Math.round((Date.now() - began) / 100) / 10;
  const megabytes = Math.round((Number(errors.split('\n').at(-1)) * 1024) / 1e6);
  if (child.exitCode === status) return { out, seconds, megabytes };
  throw new Error(`injector ${argv.join(' ')} exited with ${child.exitCode}: ${errors}`);
}
