/**
 * Generates from the source: CRDs, the chart's CRDs and table of values, `charts/install.yaml`,
 * scripts/baseline/chart, and pages of docs. `--check` (`npm run verify`) fails if a file differs.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parse, stringify } from 'yaml';
import { customResourceDefinitions } from '../src/api/crd.ts';
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';
import { readChart } from '../src/cli/install/chart-files.ts';
import type { ChartValues } from '../src/cli/install/chart-values.ts';
import { installCommand } from '../src/cli/install/install.ts';
import { renderChart } from '../src/cli/install/render-chart.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { capacityPage } from './capacity-page.ts';
import { lintPages } from './lint-pages.ts';
import { pages as referencePages } from './reference.ts';
import { performancePage } from './performance-page.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** Returns a Markdown page with all fields of a resource, from its CustomResourceDefinition. */
function resourceReference(definition: KubernetesObject): string {
  const { names, versions } = definition.spec as {
    names: { kind: string; shortNames?: string[] };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
  const [version] = versions;
  if (version === undefined) throw new Error(`${String(definition.metadata.name)} has no version`);
  const { spec, status } = version.schema.openAPIV3Schema.properties ?? {};
  return [
    `# ${names.kind}: fields`,
    '',
    'Generated from the CustomResourceDefinition by `make generate`.',
    '',
    '## spec',
    '',
    ...table(spec),
    '',
    '## status',
    '',
    ...table(status),
    '',
  ].join('\n');
}

function table(schema: Schema | undefined): string[] {
  return ['| field | type | default | |', '|---|---|---|---|', ...rows('', schema ?? {})];
}

function rows(prefix: string, schema: Schema): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const inner = field.items?.properties === undefined ? field : field.items;
    const below = inner.properties === undefined ? [] : rows(`${path}${inner === field ? '.' : '[].'}`, inner);
    return [`| \`${path}\` | ${typeOf(field)} | ${defaultOf(field)} | ${escape(field.description ?? '')} |`, ...below];
  });
}

function typeOf(field: Schema): string {
  if (field.enum !== undefined) return field.enum.map(String).join(' \\| ');
  if (field.type === 'array') return `list of ${field.items?.type ?? 'any'}`;
  if (field.type === 'object' && typeof field.additionalProperties === 'object') {
    return `map of ${field.additionalProperties.type ?? 'any'}`;
  }
  return field.type ?? 'any';
}

/** Returns a field's default, or an empty text for objects, because their fields have defaults. */
function defaultOf(field: Schema): string {
  if (field.default === undefined || (field.properties !== undefined && typeof field.default === 'object')) return '';
  return `\`${JSON.stringify(field.default)}\``;
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/**
 * Returns the chart's README with its table of values, from values.yaml and values.schema.json.
 * @throws Error if one of the files lacks a value of the other, or a value has no description
 */
function chartReadme(chart: string): string {
  const read = (name: string): string => readFileSync(join(chart, name), 'utf8');
  const schema = JSON.parse(read('values.schema.json')) as Schema;
  const lines = valueRows('', schema, { global: {}, ...(parse(read('values.yaml')) as ChartValues) });
  const values = ['', '| value | type | default | |', '|---|---|---|---|', ...lines, ''].join('\n');
  return read('README.md').replace(/(?<=<!-- values -->\n)[^]*(?=<!-- end of values -->)/, () => `${values}\n`);
}

function valueRows(path: string, schema: Schema, value: unknown): string[] {
  const { description = '', properties } = schema;
  if (value === undefined || (path !== '' && description === ''))
    throw new Error(`value ${path} of the chart lacks ${value === undefined ? 'a default' : 'a description'}`);
  if (properties === undefined)
    return [`| \`${path}\` | ${typeOf(schema)} | \`${JSON.stringify(value)}\` | ${escape(description)} |`];
  const known = value as Record<string, unknown>;
  const unknown = Object.keys(known).filter((key) => !Object.hasOwn(properties, key));
  if (unknown.length > 0) throw new Error(`values.schema.json of the chart lacks ${path} ${unknown.join(', ')}`);
  const below = path === '' ? '' : `${path}.`;
  return Object.entries(properties).flatMap(([key, inner]) => valueRows(`${below}${key}`, inner, known[key]));
}

/** Returns the output of `injector install --output yaml`. */
async function installManifest(): Promise<string> {
  let text = '';
  const terminal = { document: (part: string) => (text += part) } as unknown as Terminal;
  await installCommand(terminal).parseAsync(['--output', 'yaml'], { from: 'user' });
  return text;
}

/** Renders the chart for code reviews. Omits CRDs, and long texts that are separate files. */
function reviewedRender(values: ChartValues): string {
  const { objects, notes } = renderChart(
    readChart(),
    { name: 'injector', namespace: 'injector-system', service: 'Helm' },
    values,
  );
  const own = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  const shorten = (_: unknown, value: unknown): unknown =>
    typeof value === 'string' && value.length > 3000 ? `${String(value.length)} characters` : value;
  return [...own, notes]
    .map((each) => stringify(each, shorten, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}

const root = join(import.meta.dirname, '..');
const chart = join(root, 'charts/injector-operator');
const definitions = customResourceDefinitions();

const header = '# Generated from src/api by `npm run generate`; edit it there.\n';
const yaml = (value: unknown): string => header + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
const files = definitions.flatMap((definition) => {
  const name = `${String(definition.metadata.name)}.yaml`;
  return [
    { path: join(root, 'crds', name), text: yaml(definition) },
    { path: join(chart, 'files/crds', name), text: yaml({ spec: definition.spec }) },
  ];
});
files.push({ path: join(chart, 'README.md'), text: chartReadme(chart) });
files.push({
  path: join(root, 'charts/install.yaml'),
  text: header.replace('src/api', 'the chart') + (await installManifest()),
});
for (const name of readdirSync(join(chart, 'ci'))) {
  const text = reviewedRender(parse(readFileSync(join(chart, 'ci', name), 'utf8')) as ChartValues);
  files.push({ path: join(root, 'scripts/baseline/chart', name.replace('-values', '')), text });
}

const pages: Readonly<Record<string, string>> = {
  'injectorconfigs.sidecar-injector.io': 'injector-config-fields.md',
  'revisiontags.sidecar-injector.io': 'revision-tag-fields.md',
};
for (const definition of definitions) {
  const page = pages[definition.metadata.name ?? ''];
  if (page === undefined) throw new Error(`scripts/generate.ts names no page for ${definition.metadata.name ?? ''}`);
  files.push({ path: join(root, 'docs', page), text: resourceReference(definition) });
}

const measurements = join(root, 'docs', 'measurements');
files.push({ path: join(root, 'docs', 'performance.md'), text: performancePage(measurements) });
const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as ChartValues;
files.push({ path: join(root, 'docs', 'capacity.md'), text: capacityPage(measurements, values) });

const source = 'Generated from the source by `make generate`.';
for (const [name, [title, ...parts]] of Object.entries(referencePages)) {
  files.push({ path: join(root, 'docs/reference', `${name}.md`), text: `${[title, source, ...parts].join('\n\n')}\n` });
}

const lintFolder = join(root, 'docs', 'lint');
for (const [name, text] of Object.entries(lintPages(lintFolder)))
  files.push({ path: join(lintFolder, `${name}.md`), text });

const stale = files.filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
const names = stale.map(({ path }) => relative(root, path));

if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(
      `generated files differ from their source: ${names.join(', ')}; run npm run generate, and commit them`,
    );
    process.exitCode = 1;
  }
} else {
  for (const { path, text } of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  console.log(stale.length === 0 ? 'generated files are up to date' : `wrote ${names.join(', ')}`);
}
