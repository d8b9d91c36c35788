import { Command, CommanderError, Option } from 'commander';
import { stringify } from 'yaml';
import { ConfigurationError } from '../api/errors.ts';
import { analyzeCommand } from './commands/analyze.ts';
import { annotationsCommand } from './commands/annotations.ts';
import { certsCommand } from './certs/certs.ts';
import { checkCommand } from './commands/check.ts';
import { disableCommand } from './commands/disable.ts';
import { enableCommand } from './commands/enable.ts';
import { injectCommand } from './commands/inject.ts';
import { kubeInjectCommand } from './commands/kube-inject.ts';
import { operatorCommand } from './commands/operator.ts';
import { revisionsCommand } from './commands/revisions.ts';
import { serveCommand } from './commands/serve.ts';
import { statusCommand } from './commands/status.ts';
import { tagCommand } from './tags/tag.ts';
import { templateCommand } from './commands/template.ts';
import { exitCodes, type Terminal, UsageError } from './terminal.ts';
import { messageOf } from './files.ts';
import { boundHeap, leaveHeapToGrow } from './heap-bounds.ts';
import { version } from './version.ts';
import { customResourceDefinitions } from '../api/crd.ts';

/** Commands that serve until they are told to stop. */
const longRunning = new Set(['operator', 'serve']);

/** The whole command line, talking to the given terminal. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('injector')
    .description('Sidecar injectors for Kubernetes: the operator, and its engine for files.')
    .version(version, '--version', 'print the version number')
    .showHelpAfterError('(injector COMMAND --help says more)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.error(text.trimEnd()),
    });
  for (const command of [
    operatorCommand(),
    injectCommand(terminal),
    annotationsCommand(terminal),
    kubeInjectCommand(terminal),
    serveCommand(),
    templateCommand(terminal),
    tagCommand(terminal),
    revisionsCommand(terminal),
    statusCommand(terminal),
    certsCommand(terminal),
    checkCommand(terminal),
    analyzeCommand(terminal),
    disableCommand(terminal),
    enableCommand(terminal),
    crdCommand(terminal),
    versionCommand(terminal),
  ]) {
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
    await createProgram(terminal).parseAsync([...argv], { from: 'user' });
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
    .action((options: { output: string }) => {
      const items = customResourceDefinitions();
      const asYaml = (item: unknown): string => stringify(item, { lineWidth: 0, aliasDuplicateObjects: false });
      terminal.out(
        options.output === 'json'
          ? `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`
          : items.map(asYaml).join('---\n'),
      );
    });
}
