import type { DiffReport } from '../../src/cli/diff/diff-report.ts';
import { applyAll } from '../harness/apply.ts';
import { clusterFlags } from '../harness/injector-command.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { createPods, measure } from './diff-scale/many-pods.ts';
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
    await createPods(context, { workloads, replicas, namespaces, labels: { 'istio.io/rev': 'prod' } });

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
