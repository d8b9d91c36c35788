import { type Command, InvalidArgumentError } from 'commander';
import { recordOriginal, recordTexts } from '../../explain/uninject-object.ts';
import type { Injector } from '../../inject/injector.ts';
import { type FileInjectionResult, kubeInject } from '../../inject/kube-inject.ts';
import type { FileContext } from '../../inject/objects/inject-object.ts';
import type { PodTemplates } from '../../inject/objects/workload-kinds.ts';
import { readNamedFile, writeNamedFile } from '../files.ts';
import { oneLine } from '../report/write-report.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

/** The options that {@link addFileOptions} adds. */
export interface FileOptions {
  readonly filename: readonly string[];
  readonly output?: string;
  readonly podTemplate?: PodTemplates;
}

/** Adds the options for the files that a command edits. */
export function addFileOptions(command: Command, content: string): Command {
  return command
    .requiredOption('-f, --filename <file...>', `YAML files with ${content} (- for standard input)`)
    .option('-o, --output <file>', 'the output file (default: standard output)')
    .option(
      '--pod-template <kind=path>',
      'where objects of a further kind have their pod template, for example ScaledJob=spec.jobTargetRef.template; may be repeated',
      podTemplateOf,
    );
}

/** Reads KIND=PATH or GROUP/KIND=PATH, and adds it to the earlier ones. */
function podTemplateOf(text: string, earlier: PodTemplates = new Map()): PodTemplates {
  const [, kind, path] = /^((?:[a-z0-9.-]+\/)?[A-Za-z0-9]+)=(\w+(?:\.\w+)*)$/.exec(text) ?? [];
  if (kind === undefined || path === undefined)
    throw new InvalidArgumentError(
      'It must be KIND=PATH or GROUP/KIND=PATH, for example ScaledJob=spec.jobTargetRef.template.',
    );
  if (earlier.has(kind)) throw new InvalidArgumentError(`${kind} has a path already.`);
  return new Map([...earlier, [kind, path.split('.')]]);
}

/** Edits files; joins the results by `---`. Writes nothing if a file fails. */
export async function editFiles(
  terminal: Terminal,
  { filename, output }: FileOptions,
  edit: (text: string, file: string) => FileInjectionResult,
): Promise<void> {
  const texts: string[] = [];
  for (const file of filename) {
    const result = edit(await readNamedFile(terminal, '--filename', file), file);
    if (result.outcome === 'failed') {
      terminal.error(
        `error: ${[file, result.object].filter((part) => part !== '').join(': ')}: ${oneLine(result.message)}`,
      );
      terminal.setExitCode(exitCodes.failure);
      return;
    }
    for (const warning of result.warnings) terminal.error(warning);
    texts.push(result.text);
  }
  writeNamedFile(terminal, '--output', output, texts.join('---\n'));
}

/** Injects the workloads of files. */
export function injectFiles(
  terminal: Terminal,
  injector: Injector,
  surroundings: FileContext,
  options: FileOptions,
): Promise<void> {
  const { podTemplate: podTemplates } = options;
  const context: FileContext = { ...surroundings, podTemplates };
  return editFiles(terminal, options, (text, file) => {
    if (text.trim() === '') terminal.error(`warning: ${file}: is empty, so nothing was injected`);
    if (injector.semantics === 'KubeInject') return kubeInject(injector, text, context);
    const { namespace = 'default', nodes = [] } = context;
    const by = { injector, request: { namespace, nodes } };
    return kubeInject(
      injector,
      text,
      context,
      (before, after) => recordOriginal(before, after, by, podTemplates),
      (object, texts) => recordTexts(object, texts, podTemplates),
    );
  });
}
