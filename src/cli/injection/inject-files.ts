import type { Injector } from '../../inject/injector.ts';
import { kubeInject } from '../../inject/kube-inject.ts';
import type { FileContext } from '../../inject/objects/inject-object.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { readNamedFile, writeNamedFile } from '../files.ts';

/** Injects the workloads of files; joins the results by `---`. Writes nothing if a file fails. */
export async function injectFiles(
  terminal: Terminal,
  injector: Injector,
  context: FileContext,
  files: readonly string[],
  output: string | undefined,
): Promise<void> {
  const texts: string[] = [];
  for (const file of files) {
    const text = await readNamedFile(terminal, '--filename', file);
    if (text.trim() === '') terminal.error(`warning: ${file}: is empty, so nothing was injected`);
    const result = kubeInject(injector, text, context);
    if (result.outcome === 'failed') {
      terminal.error(`error: ${[file, result.object].filter((part) => part !== '').join(': ')}: ${result.message}`);
      terminal.setExitCode(exitCodes.failure);
      return;
    }
    for (const warning of result.warnings) terminal.error(warning);
    texts.push(result.text);
  }
  writeNamedFile(terminal, '--output', output, texts.join('---\n'));
}
