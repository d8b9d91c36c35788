import { type Command, Option } from 'commander';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { configMaps, mutatingWebhooks } from '../../operator/cluster-view.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { readFileObjects } from '../commands/check.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { formatTable, widthOf, writeData } from '../report/write-report.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { type AdoptionPlan, planAdoption, type PlannedSetting } from './plan-adoption.ts';

interface PlanOptions extends ClusterOptions {
  readonly istioNamespace: string;
  readonly istiod?: readonly string[];
  readonly output: 'yaml' | 'json';
}

const deployments = resourceKind('apps/v1', 'Deployment');

/** The namespace of istiod, as in istioctl. */
export function istioNamespaceOption(): Option {
  return new Option('-i, --istio-namespace <name>', 'the namespace of istiod').default('istio-system');
}

/** `injector adopt plan`: prints the objects that take over from Istio's injector. */
export function planCommand(terminal: Terminal): Command {
  return clusterCommand(
    'plan',
    "print InjectorConfigs and RevisionTags for the revisions and tags of Istio's injector, and where each setting goes; changes nothing",
  )
    .addOption(istioNamespaceOption())
    .option('--istiod <file...>', 'files with the Deployment of an istiod that webhooks call by a URL')
    .addOption(new Option('-o, --output <format>', 'the output format').choices(['yaml', 'json']).default('yaml'))
    .action((options: PlanOptions) =>
      withCluster(options, async (client) => {
        const { istiod } = options;
        const elsewhere = istiod && (await readFileObjects(terminal, istiod, '--istiod'));
        const plan = await readPlan(client, options.istioNamespace, elsewhere);
        if (plan.settings.length + plan.refusals.length === 0)
          throw new UsageError(
            `no webhook of Istio's injector calls a Service in namespace ${options.istioNamespace}; name the namespace of istiod with -i`,
          );
        print(terminal, plan, options.output);
        terminal.setExitCode(plan.refusals.length > 0 ? exitCodes.refused : exitCodes.success);
      }),
    );
}

/** Reads a cluster, and plans. */
async function readPlan(
  client: Pick<ApiClient, 'listAll'>,
  namespace: string,
  elsewhere?: readonly KubernetesObject[],
): Promise<AdoptionPlan> {
  const [configurations, maps, found] = await Promise.all([
    client.listAll(mutatingWebhooks),
    client.listAll(configMaps, { namespace }),
    client.listAll(deployments, { namespace }),
  ]);
  const facts = { configurations: configurations.items, configMaps: maps.items, deployments: found.items };
  return planAdoption({ namespace, elsewhere, ...facts });
}

/** Prints the objects for a file, and what a person reads on standard error. */
function print(terminal: Terminal, { objects, settings, refusals }: AdoptionPlan, output: 'yaml' | 'json'): void {
  const table = {
    columns: ['OF', 'SETTING', 'VALUE', 'GOES TO'],
    row: ({ owner, setting, value, goesTo }: PlannedSetting) => [owner, setting, value, goesTo],
  };
  terminal.error(formatTable(settings, table, widthOf(terminal)));
  terminal.error(refusals.map((refusal) => `refused: ${refusal}`));
  // A part of the objects would leave pods without a sidecar.
  const whole = refusals.length > 0 ? [] : objects;
  if (output === 'json') writeData(terminal, 'json', { objects: whole, settings, refusals });
  for (const object of output === 'yaml' ? whole : []) {
    terminal.document('---\n');
    writeData(terminal, 'yaml', object);
  }
}
