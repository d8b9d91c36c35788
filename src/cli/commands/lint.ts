import type { Command } from 'commander';
import { lintRules } from '../../explain/lint/rules.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { type ConfigurationOptions, namedConfiguration } from '../injection/named-configuration.ts';
import {
  inOrder,
  lintDirectory,
  lintFiles,
  type LintResult,
  type PlacedFinding,
} from '../../explain/lint/lint-files.ts';
import { lintOnServer } from '../lint/lint-server.ts';
import { sarifLog } from '../lint/sarif.ts';
import { readFiles } from '../read-folder.ts';
import { outputOption, plural, writeData } from '../report/write-report.ts';
import { requireNamespaceIn } from '../usage/installation.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';

interface LintOptions extends ConfigurationOptions, ClusterOptions {
  readonly server?: true;
  readonly namespace: string;
  readonly output: 'text' | 'json' | 'sarif';
  readonly ignore: readonly string[];
}

/** `injector lint`: checks templates and configurations of files, without a cluster by default. */
export function lintCommand(terminal: Terminal): Command {
  return clusterCommand('lint', 'check InjectorConfigs, RevisionTags and their templates in files, without a cluster')
    .argument('[file...]', 'YAML files, or folders with such files (- for standard input)')
    .option('--config-dir <directory>', "a directory with Istio's files config, values and mesh, instead of files")
    .option('--ignore <rule...>', 'rules to ignore, for example missing-resources', [])
    .option('--server', 'also let the API server of a cluster validate injected pods, by dry runs')
    .option('-n, --namespace <name>', 'with --server: the namespace of the dry runs', 'default')
    .addOption(outputOption(['text', 'json', 'sarif']))
    .action(async (files: string[], options: LintOptions) => {
      const names = Object.keys(lintRules);
      const unknown = options.ignore.find((name) => !names.includes(name));
      if (unknown !== undefined)
        throw new UsageError(`--ignore ${unknown}: no such rule; ${namesThere(unknown, names)}`);
      const { findings: offline, objects, configurations } = await lint(terminal, files, options);
      if (options.server === undefined && (options.context ?? options.kubeconfig) !== undefined)
        throw new UsageError('--context and --kubeconfig: also use --server; otherwise no cluster is needed');
      const online = options.server
        ? await withCluster(options, async (client) => {
            await requireNamespaceIn(client, options.namespace);
            return lintOnServer(client, options.namespace, configurations);
          })
        : [];
      const all = inOrder([...offline, ...online]);
      const findings = all.filter(({ rule }) => !options.ignore.includes(rule));
      if (options.output === 'json') writeData(terminal, 'json', findings);
      else if (options.output === 'sarif') writeData(terminal, 'json', sarifLog(findings));
      else terminal.out([...findings.map(lineOf), summary(findings, objects)]);
      const has = (level: string): boolean => findings.some((each) => each.level === level);
      if (has('warning')) terminal.setExitCode(exitCodes.negative);
      if (has('error')) terminal.setExitCode(exitCodes.refused);
    });
}

/** @throws UsageError if the files contain nothing to check */
async function lint(terminal: Terminal, names: readonly string[], options: LintOptions): Promise<LintResult> {
  if ((names.length === 0) === (options.configDir === undefined))
    throw new UsageError('name what to check: files or folders, or a directory with --config-dir');
  if (options.configDir !== undefined)
    return lintDirectory(await namedConfiguration(terminal, options), options.configDir);
  const files = [];
  for await (const file of readFiles(terminal, 'lint', names)) files.push(file);
  const result = lintFiles(files);
  if (result.objects === 0 && result.findings.length === 0)
    throw new UsageError(`lint ${names.join(' ')}: the files contain no InjectorConfig or RevisionTag`);
  return result;
}

/** Formats a finding as compilers do, so that editors find its place. */
function lineOf({ file, line, column, level, object, message, rule }: PlacedFinding): string {
  return `${file}:${line}:${column}: ${level}: ${object === '' ? '' : `${object}: `}${message} [${rule}]`;
}

function summary(findings: readonly PlacedFinding[], objects: number): string {
  const count = (level: string): number => findings.filter((each) => each.level === level).length;
  const counts = ['error', 'warning', 'note'].map((level) => plural(count(level), level)).join(', ');
  return `${counts} in ${plural(objects, 'object')}`;
}
