import { type Command, Option } from 'commander';
import type { NamedInjector } from '../../explain/predict-pod.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { readFileObjects } from './check.ts';
import { namespacesIn } from '../../explain/files/read-file-facts.ts';
import { subjectOf } from '../check/subject.ts';
import { allNamespacesOption, clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import {
  type ClusterDiff,
  chosen,
  compareAll,
  diffCluster,
  followsFamily,
  readModeFacts,
  readReferencedTexts,
  toRevision,
  unmatchedNamespace,
} from '../diff/cluster-diff.ts';
import { choose, type FileConfiguration, loadConfigurations, named, readObjectsAt } from '../diff/configurations.ts';
import { type DiffReport, makeReport } from '../diff/diff-report.ts';
import { htmlReport } from '../diff/html-report.ts';
import { printSummary, printWorkload } from '../diff/print-diff.ts';
import { replicasOf } from '../../operator/pods/wanted-pods.ts';
import { readNamedFile } from '../files.ts';
import { outputOption, writeData } from '../report/write-report.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { canonicalJson, valuesJson } from '../../manifests/values-json.ts';

interface DiffOptions extends ClusterOptions {
  readonly from?: string;
  readonly to?: string;
  readonly filename?: readonly string[];
  readonly toValues?: string;
  readonly fromFile?: readonly string[];
  readonly since?: string;
  readonly manifests?: readonly string[];
  readonly namespace?: string;
  readonly tag?: string;
  readonly workload?: string;
  readonly pods?: true;
  readonly output: 'text' | 'json' | 'yaml' | 'html';
}

/** `injector diff`: predicts how new pods change if a configuration changes. */
export function diffCommand(terminal: Terminal): Command {
  return clusterCommand('diff', 'predict how new pods of every live workload change with another configuration')
    .option('--to <revision>', 'the revision after the change')
    .option(
      '-f, --filename <file...>',
      'files or folders with the InjectorConfig after the change (- for standard input)',
    )
    .option('--to-values <file>', 'a file with other values for the configuration before the change')
    .option('--from <revision>', 'the revision before the change (default: what is active for each workload)')
    .option('--manifests <file...>', 'files or folders with workloads, instead of a cluster')
    .option('--from-file <file...>', 'with --manifests: files or folders with the InjectorConfig before the change')
    .addOption(
      new Option(
        '--since <commit>',
        'with --manifests: the files of -f in this git commit, before the change',
      ).conflicts('fromFile'),
    )
    .option('-n, --namespace <name>', 'only workloads of this namespace')
    .addOption(new Option('--tag <name>', 'only workloads that follow this tag').conflicts('manifests'))
    .addOption(allNamespacesOption())
    .option('--workload <namespace/kind/name>', 'show one workload in full')
    .option('--pods', 'with -o json or yaml: also print the predicted pods')
    .addOption(outputOption(['text', 'json', 'yaml', 'html']))
    .action(async (options: DiffOptions) => {
      refuseUnclear(options);
      const report =
        options.manifests === undefined
          ? await withCluster(options, (client) => clusterReport(client, options, terminal))
          : await filesReport(options, terminal);
      print(terminal, report, options);
      terminal.setExitCode(exitCodeOf(report));
    });
}

function exitCodeOf({ summary: { failing, changed, unknown, workloads } }: DiffReport): number {
  if (failing > 0) return exitCodes.refused;
  if (changed > 0) return exitCodes.negative;
  return unknown > 0 || workloads === 0 ? exitCodes.unknown : exitCodes.success;
}

/** @throws UsageError if the options do not say what to compare */
function refuseUnclear({ to, filename, toValues, manifests, fromFile, since, workload }: DiffOptions): void {
  if ((filename === undefined && to === undefined) === (toValues === undefined))
    throw new UsageError('name what comes after: --to REVISION, -f FILE or --to-values FILE');
  if (manifests !== undefined && filename === undefined)
    throw new UsageError('--manifests: also name the InjectorConfig after the change with -f');
  if (manifests === undefined && (fromFile ?? since) !== undefined)
    throw new UsageError(
      '--from-file and --since: also name workloads with --manifests; a cluster has its own configurations',
    );
  if (workload !== undefined && workload.split('/').length !== 3)
    throw new UsageError(`--workload ${workload}: use NAMESPACE/KIND/NAME, for example shop/deployment/web`);
}

async function clusterReport(client: ApiClient, options: DiffOptions, terminal: Terminal): Promise<DiffReport> {
  const { from, namespace, tag, workload, pods } = options;
  const change = await changeOf(client, options, terminal);
  return diffCluster(
    client,
    { namespace, workload, from, tag, isDetailed: pods === true, server: client, ...change },
    terminal,
  );
}

/** Returns what comes after the active configurations of a cluster. */
async function changeOf(
  client: ApiClient,
  { to, filename, toValues }: DiffOptions,
  terminal: Terminal,
): Promise<Pick<ClusterDiff, 'to' | 'after'>> {
  if (toValues !== undefined) {
    const text = valuesJson(await readNamedFile(terminal, '--to-values', toValues), '--to-values');
    const values = canonicalJson(JSON.parse(text));
    const known = new Map<string, NamedInjector>();
    const after = (active: NamedInjector): NamedInjector => {
      const key = `${active.name}.${active.hash}`;
      const changed = known.get(key) ?? named(active.name, { ...active.injector.files, values });
      known.set(key, changed);
      return changed;
    };
    return { to: `values ${toValues}`, after: () => Promise.resolve(after) };
  }
  if (filename === undefined) return toRevision(client, to ?? '');
  const objects = await readFileObjects(terminal, filename, '-f');
  return {
    to: filename.join(' '),
    after: async (facts) => {
      const { injectorConfigs } = facts;
      const configurations = await loadConfigurations(
        '-f',
        objects,
        (config) => readReferencedTexts(client, config),
        (config) => readModeFacts(client, facts, config),
      );
      const isNew = ({ name }: NamedInjector): boolean =>
        injectorConfigs.every(({ metadata }) => metadata.name !== name);
      if (to !== undefined || configurations.every(isNew)) return followsFamily(choose('--to', configurations, to));
      return (active) => configurations.find(({ name }) => name === active.name);
    },
  };
}

/** Compares two InjectorConfigs over manifests. Labels of namespaces are not evaluated. */
async function filesReport(options: DiffOptions, terminal: Terminal): Promise<DiffReport> {
  const { manifests = [], filename = [], fromFile, since, from, to, namespace, workload, pods } = options;
  const next = await loadConfigurations('-f', await readFileObjects(terminal, filename, '-f'));
  const earlier =
    since !== undefined
      ? await loadConfigurations('--since', readObjectsAt(since, filename))
      : fromFile === undefined
        ? next
        : await loadConfigurations('--from-file', await readFileObjects(terminal, fromFile, '--from-file'));
  const after = choose('--to', next, to);
  const same = earlier === next ? undefined : earlier.find(({ revision }) => revision === after.revision);
  const before = choose('--from', earlier, from ?? same?.revision);
  if (before === after)
    throw new UsageError('name the InjectorConfig before the change: --from-file, --since or --from');
  const objects = await readFileObjects(terminal, manifests, '--manifests');
  const notes: string[] = [];
  const subjects = objects.flatMap((object) => {
    const subject = subjectOf(object, namespace ?? 'default');
    if (subject === undefined) return [];
    const pods: unknown = replicasOf(object);
    if (typeof pods === 'number') return [{ ...subject, pods, template: subject }];
    const found = `the number of replicas is ${JSON.stringify(pods)}, which is not a number`;
    notes.push(`${object.kind} ${subject.name}: ${found}, so kubectl refuses the object; counted as 1 pod`);
    return [{ ...subject, pods: 1, template: subject }];
  });
  if (subjects.length === 0) throw new UsageError('--manifests: the files contain no pods or workloads');
  const inNamespace = subjects.filter((each) => namespace === undefined || each.namespace === namespace);
  if (namespace !== undefined && inNamespace.length === 0)
    throw unmatchedNamespace(
      '--namespace',
      namespace,
      subjects.map((each) => each.namespace),
    );
  const wanted = chosen(inNamespace, workload);
  const facts = {
    namespaces: namespacesIn(objects),
    limitRanges: objects.filter(({ kind }) => kind === 'LimitRange'),
    nodes: [],
    proxyConfigs: [],
    selectedLabels: new Map(),
    injectorOf: () => undefined,
    pairOf: () => ({ before, after }),
    isDetailed: pods === true,
  };
  const words = ({ name, revision }: FileConfiguration): string => `InjectorConfig ${name} (revision ${revision})`;
  return makeReport(words(before), words(after), compareAll(wanted, facts, terminal), notes);
}

function print(terminal: Terminal, report: DiffReport, { output, workload }: DiffOptions): void {
  if (output === 'html') terminal.document(htmlReport(report));
  else if (output !== 'text') writeData(terminal, output, report);
  else if (workload === undefined) printSummary(terminal, report);
  else {
    for (const diff of report.workloads) printWorkload(terminal, diff);
    terminal.error(report.notes);
  }
}
