import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { DiffReport } from '../../src/cli/diff/diff-report.ts';
import { applyAll } from '../harness/apply.ts';
import { clusterFlags } from '../harness/injector-command.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { paths } from '../harness/paths.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { barePod, neverScheduled } from '../harness/workloads.ts';
import { inBatches } from './label-truth-table/rows.ts';
import { istioConfig, istioConfigMaps, istioTexts, withTag } from './istio-templates/istio-texts.ts';

const [workloads, replicas, namespaces] = [500, 20, 10];
const bounds = { seconds: 20, megabytes: 300 };

export const diffScale: Scenario = {
  name: 'diff-scale',
  about: `injector diff compares ${workloads} workloads with ${workloads * replicas} pods in at most ${bounds.seconds} s and ${bounds.megabytes} MB`,
  ownControlPlane: true,
  destructive: 'it stops the controllers',
  onlyGate: true,
  full: `${workloads} workloads with ${workloads * replicas} pods, 3 minutes`,
  run: async (context) => {
    const { client } = context;
    const { texts, source } = istioTexts();
    await context.startOperator();
    const istio = await context.namespace('istio');
    for (const revision of ['old', 'new']) {
      await applyAll(client, istioConfigMaps(istio, revision, withTag(texts, revision)));
      await applyUntilReady(client, istioConfig(istio, revision));
    }
    await applyTagUntilReady(client, revisionTag('prod', 'old'));
    await createPods(context);

    const flags = clusterFlags(context.cluster);
    const whole = await measure(['diff', '--to', 'new', '-o', 'json', ...flags]);
    const { summary } = JSON.parse(whole.out) as DiffReport;
    await context.checkNow('the report has every workload and every pod, and each workload changes', () => {
      const counts = [summary.workloads, summary.pods, summary.changed, summary.estimated];
      if (counts.join() === [workloads, workloads * replicas, workloads, 0].join()) return true;
      throw new Error(JSON.stringify(summary));
    });
    const summarized = await measure(['diff', '--to', 'new', ...flags]);
    const [seconds, megabytes] = (['seconds', 'megabytes'] as const).map((figure) =>
      Math.max(whole[figure], summarized[figure]),
    ) as [number, number];
    context.measured({
      workloads,
      pods: workloads * replicas,
      templates: source,
      jsonSeconds: whole.seconds,
      jsonPeakMegabytes: whole.megabytes,
      textSeconds: summarized.seconds,
      textPeakMegabytes: summarized.megabytes,
    });
    const figures = `${seconds} s and ${megabytes} MB`;
    await context.checkNow(`both formats take at most ${bounds.seconds} s and ${bounds.megabytes} MB`, () => {
      if (seconds <= bounds.seconds && megabytes <= bounds.megabytes) return true;
      throw new Error(figures);
    });
    return `${workloads} workloads with ${workloads * replicas} pods: at most ${figures}`;
  },
};

/** Creates pods as the controllers would; they are stopped, because the owners do not exist. */
async function createPods(context: ScenarioContext): Promise<void> {
  const names: string[] = [];
  for (let index = 0; index < namespaces; index += 1)
    names.push(await context.namespace(`${index}`, { 'istio.io/rev': 'prod' }));
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
async function measure(argv: readonly string[]) {
  const atExit = 'process.on("exit", () => process.stderr.write(`\\n${process.resourceUsage().maxRSS}`))';
  const began = Date.now();
  const child = spawn(process.execPath, ['--import', `data:text/javascript,${atExit}`, paths.injector, ...argv]);
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const seconds = Math.round((Date.now() - began) / 100) / 10;
  const megabytes = Math.round((Number(errors.split('\n').at(-1)) * 1024) / 1e6);
  if (child.exitCode === 3) return { out, seconds, megabytes };
  throw new Error(`injector ${argv.join(' ')} exited with ${child.exitCode}: ${errors}`);
}
