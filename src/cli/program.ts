import { Command, CommanderError } from 'commander';
import { stringify } from 'yaml';
import { jsonText } from '../api/printable-text.ts';
import { ConfigurationError } from '../api/errors.ts';
import { clusterAdvice } from './cluster-advice.ts';
import { serveCommand } from './commands/serve.ts';
import { exitCodes, type Terminal, UsageError } from './terminal.ts';
import { nearestName } from '../explain/nearest-name.ts';
import { TemplateError } from '../template/template-error.ts';
import { examplesOf } from './examples.ts';
import { messageOf } from './files.ts';
import { boundGarbage, boundHeap, leaveHeapToGrow } from './heap-bounds.ts';
import { oneLine, outputOption, widthOf, writeData } from './report/write-report.ts';
import { programVersion } from './version.ts';

/** Commands that run until they get a signal. */
const longRunning = new Set(['operator', 'serve', 'diff', 'prove']);
/** Commands that read files of any size. */
const fileReading = new Set(['inject', 'kube-inject', 'uninject', 'lint', 'check']);

/**
 * The commands. Most are loaded on use, so that `serve` does not keep the operator's libraries in
 * memory (8 MB). `serve` and the engine are loaded immediately, because V8 optimizes modules less
 * if the bundle loads them later.
 */
const commands: Readonly<Record<string, (terminal: Terminal) => Command | Promise<Command>>> = {
  check: async (terminal) => (await import('./commands/check.ts')).checkCommand(terminal),
  install: async (terminal) => (await import('./install/install.ts')).installCommand(terminal),
  uninstall: async (terminal) => (await import('./install/uninstall.ts')).uninstallCommand(terminal),
  operator: async () => (await import('./commands/operator.ts')).operatorCommand(),
  inject: async (terminal) => (await import('./commands/inject.ts')).injectCommand(terminal),
  annotations: async (terminal) => (await import('./commands/annotations.ts')).annotationsCommand(terminal),
  'kube-inject': async (terminal) => (await import('./commands/kube-inject.ts')).kubeInjectCommand(terminal),
  serve: serveCommand,
  template: async (terminal) => (await import('./commands/template.ts')).templateCommand(terminal),
  tag: async (terminal) => (await import('./tags/tag.ts')).tagCommand(terminal),
  revisions: async (terminal) => (await import('./commands/revisions.ts')).revisionsCommand(terminal),
  status: async (terminal) => (await import('./commands/status.ts')).statusCommand(terminal),
  certs: async (terminal) => (await import('./certs/certs.ts')).certsCommand(terminal),
  uninject: async (terminal) => (await import('./commands/uninject.ts')).uninjectCommand(terminal),
  diff: async (terminal) => (await import('./commands/diff.ts')).diffCommand(terminal),
  adopt: async (terminal) => (await import('./commands/adopt.ts')).adoptCommand(terminal),
  lint: async (terminal) => (await import('./commands/lint.ts')).lintCommand(terminal),
  analyze: async (terminal) => (await import('./commands/analyze.ts')).analyzeCommand(terminal),
  dashboard: async (terminal) => (await import('./commands/dashboard.ts')).dashboardCommand(terminal),
  disable: async (terminal) => (await import('./commands/disable.ts')).disableCommand(terminal),
  release: async (terminal) => (await import('./commands/release.ts')).releaseCommand(terminal),
  enable: async (terminal) => (await import('./commands/enable.ts')).enableCommand(terminal),
  playground: async (terminal) => (await import('./commands/playground.ts')).playgroundCommand(terminal),
  torture: async (terminal) => (await import('./torture/torture.ts')).tortureCommand(terminal),
  completion: async (terminal) => (await import('./completion/completion.ts')).completionCommand(terminal),
  crd: crdCommand,
  version: versionCommand,
};

/** The groups of commands in the help. The others, such as `completion`, come last. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'For authors of pods:': ['check', 'status', 'revisions', 'analyze'],
  'For the platform team:': [
    'install',
    'uninstall',
    'tag',
    'diff',
    'adopt',
    'torture',
    'certs',
    'dashboard',
    'disable',
    'enable',
    'release',
    'operator',
  ],
  'For files, without a cluster:': [
    'lint',
    'inject',
    'uninject',
    'kube-inject',
    'annotations',
    'template',
    'playground',
    'serve',
  ],
};

/** Creates the command for completion scripts. */
async function completer(terminal: Terminal): Promise<Command> {
  const { completeCommand } = await import('./completion/complete.ts');
  return completeCommand(terminal, Object.keys(commands), (name) => createProgram(terminal, name));
}

/** Creates the part of the command line that a call needs. */
export async function createProgram(terminal: Terminal, name = ''): Promise<Command> {
  const program = new Command('injector')
    .description('Sidecar injectors for Kubernetes: run the operator, manage it, and inject files.')
    .version(programVersion, '--version', 'print the version number')
    .showHelpAfterError('(run injector COMMAND --help for help)')
    .exitOverride()
    .commandsGroup('Other commands:')
    .helpCommand(true)
    .configureOutput({
      // Help consists of our own lines; an error repeats arguments, and ends with a suggestion.
      writeOut: (text) => terminal.document(text),
      writeErr: (text) => terminal.error(text.trimEnd().split('\n')),
      outputError: (text) => {
        const message = text.replace(/'([^']*)' is invalid. Allowed choices are (.*)\.$/m, suggest).trimEnd();
        terminal.error(message.split(/\n(?=\(Did you mean [^\n]*\)$)/));
      },
      getOutHelpWidth: () => widthOf(terminal),
    });
  const called = name === '__complete' ? completer : Object.hasOwn(commands, name) ? commands[name] : undefined;
  for (const load of called === undefined ? Object.values(commands) : [called]) {
    const command = await load(terminal);
    const [heading] = Object.entries(groups).find(([, names]) => names.includes(command.name())) ?? [];
    program.addCommand(heading === undefined ? command : command.helpGroup(heading));
  }
  inherit(program, program, '');
  return program;
}

/** Copies settings, so that commander does not end the process, and adds examples. */
function inherit(command: Command, program: Command, name: string): void {
  if (command !== program) command.copyInheritedSettings(program);
  // The settings include the help command of the program, with its group.
  if (command !== program && command.commands.length > 0) command.helpCommand('help [command]');
  command.addHelpText('after', examplesOf(name));
  for (const below of command.commands) inherit(below, program, `${name} ${below.name()}`.trim());
}

/** Suggests the nearest choice for an invalid value. */
function suggest(message: string, value: string, choices: string): string {
  const meant = nearestName(value, choices.split(', '));
  return meant === undefined ? message : `${message}\n(Did you mean ${meant}?)`;
}

/** Runs the command line; prints a failure on standard error and sets the exit status. */
export async function run(terminal: Terminal, argv: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(terminal, argv[0]);
    program.hook('preAction', (_program, command) => {
      if (longRunning.has(command.name())) boundHeap();
      else if (fileReading.has(command.name())) boundGarbage();
      else leaveHeapToGrow();
    });
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has already printed the help or the error.
      terminal.setExitCode(error.exitCode === 0 ? exitCodes.success : exitCodes.usage);
      return;
    }
    const advice = clusterAdvice(error);
    terminal.progress('');
    const [first = '', ...others] = linesOf(error);
    terminal.error([`error: ${oneLine(first)}${advice === '' ? '' : `; ${advice}`}`, ...others]);
    const otherwise = error instanceof ConfigurationError ? exitCodes.usage : exitCodes.failure;
    terminal.setExitCode(error instanceof UsageError ? error.exitCode : otherwise);
  }
}

/** Returns the lines of a message: an excerpt of a template has its own, quoted text has none. */
function linesOf(error: unknown): string[] {
  const message = messageOf(error);
  for (let each = error; each instanceof Error; each = each.cause) {
    const [, ...excerpt] = each instanceof TemplateError ? each.caret() : [];
    const end = ['', ...excerpt].join('\n');
    if (end !== '' && message.endsWith(end)) return [message.slice(0, -end.length), ...excerpt];
  }
  return [message];
}

/** `injector version`: prints the facts for a bug report. */
function versionCommand(terminal: Terminal): Command {
  return new Command('version')
    .description('print the version')
    .addOption(outputOption(['text', 'json']))
    .action((options: { output: string }) => {
      const facts = { version: programVersion, node: process.version, platform: `${process.platform}/${process.arch}` };
      const text = `injector ${facts.version} (node ${facts.node}, ${facts.platform})`;
      terminal.out(options.output === 'json' ? jsonText(facts) : text);
    });
}

/** `injector crd`: prints the CustomResourceDefinitions, for `kubectl apply --server-side -f -`. */
function crdCommand(terminal: Terminal): Command {
  return new Command('crd')
    .description('print the CustomResourceDefinitions')
    .addOption(outputOption(['yaml', 'json']))
    .action(async (options: { output: string }) => {
      const { customResourceDefinitions } = await import('../api/crd.ts');
      const items = customResourceDefinitions();
      const asYaml = (item: unknown): string => stringify(item, { lineWidth: 0, aliasDuplicateObjects: false });
      if (options.output === 'json') writeData(terminal, 'json', { apiVersion: 'v1', kind: 'List', items });
      else terminal.document(items.map(asYaml).join('---\n'));
    });
}
