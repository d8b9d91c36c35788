import { Command, CommanderError, Option } from 'commander';
import { stringify } from 'yaml';
import { ConfigurationError } from '../api/errors.ts';
import { serveCommand } from './commands/serve.ts';
import { exitCodes, type Terminal, UsageError } from './terminal.ts';
import { messageOf } from './files.ts';
import { boundHeap, leaveHeapToGrow } from './heap-bounds.ts';
import { version } from './version.ts';

/** Commands that serve until they are told to stop. */
const longRunning = new Set(['operator', 'serve']);

/**
 * Each command, loaded when it is called: `serve` would hold the operator's libraries for months (8 MB). `serve` itself, with the engine, is loaded in any case: V8 makes faster code of
 * modules that the bundle need not load later.
 */
const commands: Readonly<Record<string, (terminal: Terminal) => Command | Promise<Command>>> = {
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
  crd: crdCommand,
  version: versionCommand,
};

/** The command line as far as this call needs it, talking to the given terminal. */
async function createProgram(terminal: Terminal, name = ''): Promise<Command> {
  const program = new Command('injector')
    .description('Sidecar injectors for Kubernetes: the operator, and its engine for files.')
    .version(version, '--version', 'print the version number')
    .showHelpAfterError('(injector COMMAND --help says more)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.error(text.trimEnd()),
    });
  const called = Object.hasOwn(commands, name) ? commands[name] : undefined;
  for (const load of called === undefined ? Object.values(commands) : [called]) {
    const command = await load(terminal);
    program.addCommand(command);
    inherit(command, program);
  }
  program.hook('preAction', (_program, command) => {
    if (longRunning.has(command.name())) boundHeap();
    else leaveHeapToGrow();
  });
  return program;
}

/** The settings of the program for a command and those below it: without them commander would end the process itself. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const below of command.commands) inherit(below, command);
}

/** Runs the command line to its end; a failure is one line on standard error and the exit status. */
export async function run(terminal: Terminal, argv: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(terminal, argv[0]);
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the help or the mistake already.
      terminal.setExitCode(error.exitCode === 0 ? exitCodes.success : exitCodes.usage);
      return;
    }
    terminal.error(`error: ${messageOf(error)}`);
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
