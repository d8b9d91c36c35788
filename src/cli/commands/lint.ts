import { Command } from 'commander';
import { lintRules } from '../../explain/lint/rules.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import { type ConfigurationOptions, namedConfiguration } from '../injection/named-configuration.ts';
import { lintDirectory, lintFiles, type LintResult, type PlacedFinding } from '../lint/lint-files.ts';
import { sarifLog } from '../lint/sarif.ts';
import { readFiles } from '../read-folder.ts';
import { outputOption, plural, writeData } from '../report/write-report.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';

interface LintOptions extends ConfigurationOptions {
  readonly output: 'text' | 'json' | 'sarif';
  readonly ignore: readonly string[];
}

/** `injector lint`: checks the templates and configurations of files, without a cluster. */
export function lintCommand(terminal: Terminal): Command {
  return new Command('lint')
    .description('check InjectorConfigs, RevisionTags and their templates in files, without a cluster')
    .argument('[file...]', 'YAML files, or folders with such files (- for standard input)')
    .option('--config-dir <directory>', "a directory with Istio's files config, values and mesh, instead of files")
    .option('--ignore <rule...>', 'rules to ignore, for example missing-resources', [])
    .addOption(outputOption(['text', 'json', 'sarif']))
    .action(async (files: string[], options: LintOptions) => {
      const names = Object.keys(lintRules);
      const unknown = options.ignore.find((name) => !names.includes(name));
      if (unknown !== undefined)
        throw new UsageError(`--ignore ${unknown}: no such rule; ${namesThere(unknown, names)}`);
      const { findings: all, objects } = await lint(terminal, files, options);
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
