import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { refusal, refusalOf } from '../e2e/harness/admissions.ts';
import { objectOf } from '../e2e/harness/apply.ts';
import { chartWorkloads } from '../e2e/harness/chart-workloads.ts';
import { paths } from '../e2e/harness/paths.ts';
import type { Pod } from '../e2e/harness/pod.ts';
import type { ScenarioContext } from '../e2e/harness/scenario-context.ts';
import { found, none } from '../e2e/harness/wait-for.ts';
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';
import { readChart } from '../src/cli/install/chart-files.ts';
import { renderChart } from '../src/cli/install/render-chart.ts';

/** The fields that Pod Security `restricted` requires. The API server's refusals name the field. */
const settings = ['runAsNonRoot', 'seccompProfile', 'allowPrivilegeEscalation', 'capabilities'];

/** Checks that the API server accepts each value set's objects, in a `restricted` namespace. */
export async function checkValueSets(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const prefix = 'pod-security.kubernetes.io/enforce';
  const namespace = await context.namespace('sets', { [prefix]: 'restricted', [`${prefix}-version`]: 'latest' });
  const sets = readdirSync(join(paths.chart, 'ci')).map((file) => {
    return [file, load(readFileSync(join(paths.chart, 'ci', file), 'utf8')) as Record<string, unknown>] as const;
  });
  for (const [set, values] of [['defaults', {}] as const, ['no user', { runAsUser: null }] as const, ...sets]) {
    const { objects } = renderChart(readChart(), { name: 'injector', namespace, service: 'Helm' }, values);
    // The API server of the test does not know the kinds of the Prometheus operator.
    const known = objects.filter(({ kind }) => !['ServiceMonitor', 'PrometheusRule'].includes(kind));
    await context.checkNow(`${set}: the API server accepts all ${known.length} objects`, async () => {
      const answers = known.map(({ metadata, ...rest }) => {
        const own = { ...rest, metadata: { ...metadata, ...(metadata.namespace !== undefined && { namespace }) } };
        return refusalOf(() => client.apply(own, { fieldManager: 'e2e', force: true, dryRun: true }));
      });
      return none((await Promise.all(answers)).filter((each) => each !== undefined));
    });
    for (const { deployment, role } of chartWorkloads(objects, namespace)) {
      const spec = { ...deployment.spec.template.spec, serviceAccountName: 'default' };
      const pod = JSON.stringify({ ...objectOf('v1', 'Pod', 'pod', namespace), spec });
      const refusalWithout = async (setting?: string): Promise<string | undefined> => {
        const parsed = JSON.parse(pod, (key, value: unknown) => (key === setting ? undefined : value)) as unknown;
        return refusal(client, parsed as KubernetesObject & Pod);
      };
      await context.checkNow(
        `${set}, ${role}: pods meet restricted:latest, and are refused without any of ${settings.join()}`,
        async () => {
          const answers = await Promise.all(settings.map(refusalWithout));
          const isRefused = (at: number): boolean =>
            answers[at]?.includes(`"restricted:latest"`) === true && answers[at].includes(settings[at]!);
          none(settings.filter((_, at) => !isRefused(at)));
          return found((await refusalWithout()) ?? '', '');
        },
      );
    }
  }
}
