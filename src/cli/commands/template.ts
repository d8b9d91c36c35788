import { Command, Option } from 'commander';
import { renderBatch, type RenderOptions } from '../../template/batch.ts';
import {
  functionFamilies,
  functionsOfFamily,
  type FunctionFamily,
} from '../../template/functions/go/function-families.ts';
import { decodeJson } from '../../template/functions/go/json-decode.ts';
import { omittedFunctions } from '../../template/functions/sprig/omitted-functions.ts';
import { TemplateError } from '../../template/template-error.ts';
import { compileTemplate } from '../../template/template.ts';
import { parseDelimiters } from '../option-values.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { atFile, readNamedFile, writeNamedFile } from '../files.ts';

interface TemplateOptions {
  readonly file?: string;
  readonly data?: string;
  readonly batch?: string;
  readonly delims?: readonly [string, string];
  readonly functions: FunctionFamily;
  readonly output?: string;
}

/** `injector template`: renders one Go template or a batch, with the same result as Go. */
export function templateCommand(terminal: Terminal): Command {
  return new Command('template')
    .description('render a Go template exactly as Go does, without a cluster')
    .option('--file <file>', 'the template (- for standard input)')
    .option('--data <file>', 'the data as JSON; numbers become float64, as in Go (default: no data)')
    .option('--batch <file>', 'a JSON array of {"template", "data"}; prints an array of {"out"} or {"error"}')
    .option('--delims <left,right>', 'the delimiters of template actions', parseDelimiters)
    .addOption(
      new Option('--functions <family>', 'the functions that templates may call')
        .choices(functionFamilies)
        .default('istio'),
    )
    .option('-o, --output <file>', 'the output file (default: standard output)')
    .action((options: TemplateOptions) => render(terminal, options));
}

async function render(terminal: Terminal, options: TemplateOptions): Promise<void> {
  const { file, batch, data, delims, functions, output } = options;
  const settings: Omit<RenderOptions, 'name'> = {
    functions: functionsOfFamily(functions),
    ...(delims === undefined ? {} : { delimiters: delims }),
  };
  if ((file === undefined) === (batch === undefined))
    throw new UsageError('name one template with --file, or several with --batch');
  if (batch !== undefined) {
    if (data !== undefined) throw new UsageError('--data: remove it; a batch contains its own data');
    const rows = await readNamedFile(terminal, '--batch', batch);
    const results = atFile('--batch', () => renderBatch(rows, { name: 'template', ...settings }));
    writeNamedFile(terminal, '--output', output, `${results}\n`);
    return;
  }
  const text = await readNamedFile(terminal, '--file', file ?? '');
  const json = data === undefined ? 'null' : await readNamedFile(terminal, '--data', data);
  const value = atFile(`--data ${data ?? ''}: not JSON`, () => decodeJson(json));
  try {
    const name = file === '-' ? 'stdin' : (file ?? '');
    const template = compileTemplate(text, { name, unavailable: omittedFunctions, ...settings });
    writeNamedFile(terminal, '--output', output, template.execute(value));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    terminal.error(error.caret());
    terminal.setExitCode(exitCodes.failure);
  }
}
