import { Command, CommanderError, Option } from 'commander';
import { stringify } from 'yaml';
import { ConfigurationError } from '../api/errors.ts';
import { ApiError } from '../kube/api-error.ts';
import { serveCommand } from './commands/serve.ts';
import { exitCodes, type Terminal, UsageError } from './terminal.ts';
import { nearestName } from '../explain/nearest-name.ts';
import { examplesOf } from './examples.ts';
import { messageOf } from './files.ts';
import { boundHeap, leaveHeapToGrow } from './heap-bounds.ts';
import { widthOf } from './report/write-report.ts';
import { version } from './version.ts';

/** Commands that serve until they are told to stop. */
const longRunning = new Set(['operator', 'serve']);

/**
 * Each command, loaded when it is called: `serve` would hold the operator's libraries for months (8 MB). `serve` itself, with the engine, is loaded in any case: V8 makes faster code of
 * modules that the bundle need not load later.
 */
const commands: Readonly<Record<string, (terminal: Terminal) => Command | Promise<Command>>> = {
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
  check: async (terminal) => (await import('./commands/check.ts')).checkCommand(terminal),
  analyze: async (terminal) => (await import('./commands/analyze.ts')).analyzeCommand(terminal),
  disable: async (terminal) => (await import('./commands/disable.ts')).disableCommand(terminal),
  enable: async (terminal) => (await import('./commands/enable.ts')).enableCommand(terminal),
  completion: async (terminal) => (await import('./completion/completion.ts')).completionCommand(terminal),
  crd: crdCommand,
  version: versionCommand,
};

/** The command that the scripts of `completion` call. */
async function completer(terminal: Terminal): Promise<Command> {
  const { completeCommand } = await import('./completion/complete.ts');
  return completeCommand(terminal, Object.keys(commands), (name) => createProgram(terminal, name));
}

/** The command line as far as this call needs it, talking to the given terminal. */
export async function createProgram(terminal: Terminal, name = ''): Promise<Command> {
  const program = new Command('injector')
    .description('Sidecar injectors for Kubernetes: the operator, and its engine for files.')
    .version(version, '--version', 'print the version number')
    .showHelpAfterError('(injector COMMAND --help says more)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.error(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/'([^']*)' is invalid. Allowed choices are (.*)\.$/m, suggest)),
      getOutHelpWidth: () => widthOf(terminal),
    });
  const called = name === '__complete' ? completer : Object.hasOwn(commands, name) ? commands[name] : undefined;
  for (const load of called === undefined ? Object.values(commands) : [called]) {
    program.addCommand(await load(terminal));
  }
  inherit(program, program, '');
  return program;
}

/** Without the program's settings commander would end the process itself; the help ends with examples. */
function inherit(command: Command, program: Command, name: string): void {
  if (command !== program) command.copyInheritedSettings(program);
  command.addHelpText('after', examplesOf(name));
  for (const below of command.commands) inherit(below, program, `${name} ${below.name()}`.trim());
}

/** Adds to the message that a value is none of the choices which one was probably meant. */
function suggest(message: string, value: string, choices: string): string {
  const meant = nearestName(value, choices.split(', '));
  return meant === undefined ? message : `${message}\n(Did you mean ${meant}?)`;
}

/** What to do next where the API server does not answer (0), or knows nobody of these credentials. */
const adviceByStatus: Readonly<Record<number, string>> = {
  0: '; is the cluster up? --context names another',
  401: '; log in again, or name other credentials with --kubeconfig',
};

/** Runs the command line to its end; a failure is one line on standard error and the exit status. */
export async function run(terminal: Terminal, argv: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(terminal, argv[0]);
    program.hook('preAction', (_program, command) => {
      if (longRunning.has(command.name())) boundHeap();
      else leaveHeapToGrow();
    });
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the help or the mistake already.
      terminal.setExitCode(error.exitCode === 0 ? exitCodes.success : exitCodes.usage);
      return;
    }
    const advice = error instanceof ApiError ? (adviceByStatus[error.code] ?? '') : '';
    terminal.error(`error: ${messageOf(error)}${advice}`);
    const usage = error instanceof UsageError || error instanceof ConfigurationError;
    terminal.setExitCode(usage ? exitCodes.usage : exitCodes.failure);
  }
}

/** `injector version`: what a bug report needs. */
function versionCommand(terminal: Terminal): Command {
  return new Command('version')
    .description('print the version')
    .addOption(new Option('-o, --output <format>', 'json for programs').choices(['text', 'json']).default('text'))
    .action((options: { output: string }) => {
      const facts = { version, node: process.version, platform: `${process.platform}/${process.arch}` };
      terminal.out(
        options.output === 'json'
          ? `${JSON.stringify(facts)}\n`
          : `injector ${facts.version} (node ${facts.node}, ${facts.platform})\n`,
      );
    });
}

/** `injector crd`: the CustomResourceDefinitions this version works with, for `kubectl apply --server-side -f -`. */
function crdCommand(terminal: Terminal): Command {
  return new Command('crd')
    .description('print the CustomResourceDefinitions')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .action(async (options: { output: string }) => {
      const { customResourceDefinitions } = await import('../api/crd.ts');
      const items = customResourceDefinitions();
      const asYaml = (item: unknown): string => stringify(item, { lineWidth: 0, aliasDuplicateObjects: false });
      terminal.out(
        options.output === 'json'
          ? `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`
          : items.map(asYaml).join('---\n'),
      );
    });
}
