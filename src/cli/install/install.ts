import { isDeepStrictEqual } from 'node:util';
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { commandLine } from '../../api/command-line.ts';
import { labelNames } from '../../api/names.ts';
import { parseYaml } from '../../inject/yaml/parse-yaml.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isConflict } from '../../kube/api-error.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { requireServerVersion } from '../../kube/server-version.ts';
import { namespaces } from '../../operator/cluster-view.ts';
import { isPlainMap } from '../../template/value-kind.ts';
import { clusterCommand, withCluster, type ClusterOptions } from '../cluster-options.ts';
import { messageOf, readNamedFile } from '../files.ts';
import { parseSeconds } from '../option-values.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { readChart } from './chart-files.ts';
import { mergeValues, setValues, type ChartValues } from './chart-values.ts';
import {
  chartLabel,
  chartName,
  findReleases,
  installer,
  type InstalledRelease,
  releaseName,
  operatorClassOf,
  releaseAnnotations,
} from './find-releases.ts';
import { renderChart } from './render-chart.ts';
import { poll, untilAvailable } from './until-available.ts';

interface InstallOptions extends ClusterOptions {
  readonly namespace: string;
  readonly set: readonly string[];
  readonly values: readonly string[];
  readonly output?: 'yaml';
  readonly dryRun?: boolean;
  readonly takeOwnership?: boolean;
  /** How long to wait, in seconds; 0 does not wait. */
  readonly timeout: number;
}

/** `injector install`: applies our chart with the user's values, and waits for its Deployments. */
export function installCommand(terminal: Terminal): Command {
  return clusterCommand('install', 'install the operator, or upgrade an installation that this command made')
    .option('-n, --namespace <name>', 'the namespace; created if it does not exist', 'sidecar-injector-system')
    .option(
      '-f, --values <file...>',
      'values of the chart; later files override earlier ones (- for standard input)',
      [],
    )
    .option('--set <key=value...>', "values that override those of files, in helm's syntax: a.b=c,d[0]=e,f={g,h}", [])
    .addOption(new Option('-o, --output <format>', 'print the objects without a cluster').choices(['yaml']))
    .option('--dry-run', 'send the changes to the API server as a dry run')
    .option('--take-ownership', 'take over fields and objects of other managers, including a helm release')
    .option('--timeout <seconds>', 'how long to wait for the operator (0: do not wait)', parseSeconds, 300)
    .action(async (options: InstallOptions) => {
      const values = await readValues(options, terminal);
      if (options.output === 'yaml') {
        const { objects } = render(options.namespace, chartName, values);
        const texts = objects.map((each) => stringify(each, { lineWidth: 0, aliasDuplicateObjects: false }));
        terminal.document(texts.join('---\n'));
        return;
      }
      const isDone = await withCluster(options, (client) => install(client, options, values, terminal));
      if (!isDone) terminal.setExitCode(exitCodes.failure);
    });
}

async function readValues({ values: files, set }: InstallOptions, terminal: Terminal): Promise<ChartValues> {
  let values: ChartValues = {};
  for (const [option, text] of [
    ...files.map((file) => ['--values', file] as const),
    ...set.map((each) => ['--set', each] as const),
  ]) {
    const file = option === '--values' ? await readNamedFile(terminal, option, text) : undefined;
    try {
      const read = file === undefined ? setValues(values, text) : (parseYaml(file) ?? {});
      if (!isPlainMap(read)) throw new Error('it must be a map of values');
      values = file === undefined ? read : mergeValues(values, read);
    } catch (error) {
      throw new UsageError(`${option} ${text}: ${messageOf(error)}`, { cause: error });
    }
  }
  return values;
}

/** Renders the objects, the namespace first, with annotations that name the release. */
function render(namespace: string, name: string, values: ChartValues) {
  const { objects, version, notes } = renderChart(readChart(), { name, namespace, service: installer }, values);
  const annotations = { [releaseAnnotations.release]: `${namespace}/${name}`, [releaseAnnotations.version]: version };
  const labels = { [labelNames.managedBy]: installer, [chartLabel]: `${chartName}-${version}` };
  const home: KubernetesObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } };
  // All releases share the CRDs, which remain when a release is removed.
  for (const { metadata, kind } of [home, ...objects]) {
    if (kind !== 'CustomResourceDefinition') metadata.annotations = { ...metadata.annotations, ...annotations };
  }
  return { objects: [home, ...objects], version, notes };
}

async function install(
  client: ApiClient,
  { namespace, timeout, dryRun = false, takeOwnership = false }: InstallOptions,
  values: ChartValues,
  terminal: Terminal,
): Promise<boolean> {
  const say = (line: string): void => terminal.error(line);
  await requireServerVersion(client, { error: say, warn: say, info: say, debug: say });
  const releases = await findReleases(client);
  const present = releases.find((each) => each.namespace === namespace);
  const { objects, version, notes } = render(namespace, present?.name ?? chartName, values);
  const request = { namespace, operatorClass: operatorClassOf(objects), takeOwnership };
  if (refusesOthers(releases, present, request, terminal)) return false;
  const home = await client.find(namespaces, namespace);
  const isForeign = home !== undefined && home.metadata.annotations?.[releaseAnnotations.release] === undefined;
  for (const object of isForeign ? objects.slice(1) : objects) {
    const lacksNamespace = dryRun && home === undefined && object.metadata.namespace === namespace;
    const outcome = lacksNamespace ? 'created' : await apply(client, object, { dryRun, takeOwnership });
    const tried = lacksNamespace ? ' (not checked: its namespace does not exist)' : '';
    terminal.out(`${releaseName(object)}: ${dryRun && outcome !== 'unchanged' ? 'would be ' : ''}${outcome}${tried}`);
    if (!dryRun && object.kind === 'CustomResourceDefinition') await untilEstablished(client, object);
  }
  const kept = new Set(objects.map(releaseName));
  const obsolete = (present?.objects ?? []).filter((each) => each.kind !== 'Namespace' && !kept.has(releaseName(each)));
  if (dryRun) {
    for (const object of obsolete) terminal.out(`${releaseName(object)}: would be deleted`);
    return true;
  }
  const deployments = timeout === 0 ? [] : objects.filter(({ kind }) => kind === 'Deployment');
  const waiting = deployments.map((each) => untilAvailable(client, each, timeout, terminal));
  // Obsolete objects are deleted last, so that they serve until the new objects are available.
  if ((await Promise.all(waiting)).includes(false)) {
    terminal.error(
      `not available after ${timeout} s: fix the problem above, then install again or \`injector uninstall\``,
    );
    return false;
  }
  for (const object of obsolete) {
    // Orphan the webhooks that this object owns, so that they are not deleted with this object.
    const isOwner = object.kind === 'MutatingWebhookConfiguration';
    await client.delete(object, { propagationPolicy: isOwner ? 'Orphan' : 'Background' });
    terminal.out(`${releaseName(object)}: deleted`);
  }
  const state = timeout === 0 ? 'was applied to' : 'runs in';
  terminal.out(['', ...notes.trim().split('\n'), '', `${chartName} ${version} ${state} namespace ${namespace}`]);
  return true;
}

/** Prints the commands to move a helm release. @throws Error when another release exists */
function refusesOthers(
  releases: readonly InstalledRelease[],
  present: InstalledRelease | undefined,
  request: { namespace: string; operatorClass: string | undefined; takeOwnership: boolean },
  terminal: Terminal,
): boolean {
  const { namespace, operatorClass = '', takeOwnership } = request;
  const rival = releases.find((each) => each !== present && (each.operatorClass ?? operatorClass) === operatorClass);
  if (rival !== undefined) {
    const where = `${rival.isHelmRelease ? 'helm release' : 'release'} ${rival.name} in namespace ${rival.namespace}`;
    const advice = `use --namespace ${rival.namespace} to upgrade it, or --set operator.class=NAME for a second operator`;
    throw new Error(`operator class ${operatorClass} already has an operator: ${where}; ${advice}`);
  }
  if (present?.isHelmRelease !== true || takeOwnership) return false;
  const { name } = present;
  const chart = `charts/${chartName}`;
  terminal.error([
    `error: helm release ${name} in namespace ${namespace} already installed this chart; nothing was changed`,
    `  upgrade with helm:       ${commandLine`helm upgrade ${name} ${chart} --namespace ${namespace}`}`,
    `  move to this command:    ${commandLine`helm get values ${name} -n ${namespace} -o yaml | injector install -n ${namespace} --take-ownership -f -`}`,
    `  move back to helm:       ${commandLine`helm upgrade --install ${name} ${chart} --namespace ${namespace} --take-ownership --force-conflicts`} (helm 4)`,
  ]);
  return true;
}

/** Applies one object server-side. Forces CRDs, because CRDs must match this version. */
async function apply(
  client: ApiClient,
  object: KubernetesObject,
  { dryRun, takeOwnership }: Pick<InstallOptions, 'dryRun' | 'takeOwnership'>,
): Promise<'created' | 'configured' | 'unchanged'> {
  const { name = '', namespace } = object.metadata;
  const force = takeOwnership === true || object.kind === 'CustomResourceDefinition';
  try {
    const live = await client.find(resourceKind(object.apiVersion, object.kind), name, { namespace });
    const applied = await client.apply(object, { fieldManager: 'injector-install', force, dryRun });
    if (live === undefined) return 'created';
    // Ignore fields that the API server and controllers update.
    const [before, after] = [live, applied].map(({ metadata, ...rest }) => {
      return { ...rest, status: '', metadata: { ...metadata, managedFields: [], resourceVersion: '', generation: 0 } };
    });
    return isDeepStrictEqual(before, after) ? 'unchanged' : 'configured';
  } catch (error) {
    const advice = isConflict(error) && !force ? '; use --take-ownership to take over these fields' : '';
    throw new Error(`${releaseName(object)}: ${messageOf(error)}${advice}`, { cause: error });
  }
}

async function untilEstablished(client: ApiClient, { apiVersion, kind, metadata: { name = '' } }: KubernetesObject) {
  const isEstablished = await poll(30, async () => {
    const { status } = await client.get(resourceKind(apiVersion, kind), name);
    // The API server sets the conditions to null at first.
    const conditions = (status as { conditions?: Condition[] | null } | undefined)?.conditions ?? [];
    return conditions.some((each) => each.type === 'Established' && each.status === 'True');
  });
  if (!isEstablished)
    throw new Error(
      `${kind} ${name}: not Established after 30 s; \`${commandLine`kubectl describe crd ${name}`}\` shows why`,
    );
}
