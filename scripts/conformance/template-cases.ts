import { TemplateError } from '../../src/template/template-error.ts';
import { compileTemplate } from '../../src/template/template.ts';
import { functionsOfFamily } from '../../src/template/functions/go/function-families.ts';
import { parseValues } from '../../src/inject/configuration/values.ts';
import { loadMeshConfig } from '../../src/inject/mesh/mesh-config.ts';
import { templateValue, type TemplateData } from '../../src/inject/template-data/template-data.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { expectEqual, type ConformanceCase, type Mismatch } from './conformance-case.ts';
import type { Golden } from './golden.ts';
import { templateDifferences, type TemplateResult, type TemplateRow } from './template-differences.ts';

interface TypedFile {
  readonly data: Omit<TemplateData, 'ObjectMeta' | 'Spec' | 'ProxyConfig' | 'MeshConfig' | 'Values'>;
  readonly mesh: JsonObject;
  readonly pod: { readonly metadata: JsonObject; readonly spec: JsonObject };
  readonly values: string;
  readonly rows: readonly TemplateRow[];
}

/** Returns template snippets with plain data and with Istio's data. */
export function* templateCases(golden: Golden): Generator<ConformanceCase> {
  const generic = golden.json('_conformance/generic.json') as { data: unknown; rows: TemplateRow[] };
  yield* rowCases('generic', generic.rows, () => structuredClone(generic.data));
  const typed = golden.json('_conformance/typed.json') as TypedFile;
  const meshConfig = loadMeshConfig(JSON.stringify(typed.mesh));
  const values = parseValues(golden.text(typed.values));
  yield* rowCases('typed', typed.rows, () =>
    templateValue({
      ...typed.data,
      ObjectMeta: typed.pod.metadata,
      Spec: typed.pod.spec,
      ProxyConfig: meshConfig.defaultConfig,
      MeshConfig: meshConfig,
      Values: values.all,
    }),
  );
}

function* rowCases(name: string, rows: readonly TemplateRow[], data: () => unknown): Generator<ConformanceCase> {
  for (const [index, row] of rows.entries()) {
    yield {
      id: `_conformance/${name}/${index}`,
      group: `templates/${name}`,
      run: () => explainRow(row, render(row.template, data())),
    };
  }
}

function render(template: string, data: unknown): TemplateResult {
  let phase = 'parse';
  try {
    const compiled = compileTemplate(template, { name: 'inject', functions: functionsOfFamily('istio') });
    phase = 'exec';
    return { output: compiled.execute(data), error: null };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { output: '', error: `${phase}: ${error.message}` };
  }
}

/** Compares a row. Ignores the partial output that Go writes before an execution fails. */
function explainRow(row: TemplateRow, actual: TemplateResult): Mismatch | undefined {
  const expected = row.error === null ? row.output : '';
  const mismatch = expectEqual(actual, { output: expected, error: row.error });
  if (mismatch === undefined) return undefined;
  const summary = `${row.template} ${mismatch.summary}`;
  const difference = templateDifferences.find(({ explains }) => explains(row, actual));
  return difference === undefined ? { summary } : { summary, differences: [difference.name] };
}
