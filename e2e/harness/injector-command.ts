import { spawn } from 'node:child_process';
import type { Cluster } from './cluster.ts';
import { paths } from './paths.ts';

export interface CommandResult {
  code: number;
  out: string;
  errors: string;
  milliseconds: number;
}

/** Returns the flags that point the command line to a scenario's cluster. */
export function clusterFlags({ kubeconfig, context }: Cluster): string[] {
  return [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...(context === undefined ? [] : ['--context', context]),
  ];
}

/** Runs the bundled program to its end, as a user does. */
export function runInjector(argv: readonly string[], input = ''): Promise<CommandResult> {
  return startInjector(argv, input).end;
}

/** Starts the bundled program as a user does; `interrupt` ends it as Ctrl-C does. */
export function startInjector(argv: readonly string[], input = '') {
  const began = Date.now();
  const texts = { out: '', errors: '' };
  const child = spawn(process.execPath, [paths.injector, ...argv], { stdio: 'pipe' });
  const end = new Promise<CommandResult>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.errors += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, ...texts, milliseconds: Date.now() - began }));
    child.stdin.end(input);
  });
  const interrupt = async (): Promise<void> => {
    child.kill('SIGINT');
    await end;
  };
  return { end, said: () => texts.out, interrupt, pid: child.pid };
}

/** Runs the bundled program. @throws Error with its output if it fails */
export async function injectorOutput(argv: readonly string[], input?: string): Promise<CommandResult> {
  const result = await runInjector(argv, input);
  if (result.code === 0) return result;
  throw new Error(`injector ${argv.join(' ')} exited with ${result.code}: ${result.out}${result.errors}`);
}
