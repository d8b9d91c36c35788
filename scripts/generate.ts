/**
 * Writes the files that are made from the source: `crds/*.yaml`, the chart's copy of them, the pages of fields in `docs/` and those of `docs/reference/`. With `--check` writes nothing and fails when a
 * file is not what it would write (`npm run verify`).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { stringify } from 'yaml';
import { customResourceDefinitions } from '../src/api/crd.ts';
import { pages as referencePages } from './reference.ts';
import type { KubernetesObject } from '../src/api/kubernetes/kubernetes.ts';
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

/** A Markdown page with every field of a resource, from its CustomResourceDefinition: what the API server checks is what the page says. */
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

/** A default that is a whole object only says that the fields below have theirs. */
function defaultOf(field: Schema): string {
  if (field.default === undefined || (field.properties !== undefined && typeof field.default === 'object')) return '';
  return `\`${JSON.stringify(field.default)}\``;
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

const root = join(import.meta.dirname, '..');
const folders = ['crds', 'charts/injector-operator/crds'];
const definitions = customResourceDefinitions();

const header = '# Generated from src/api by `npm run generate`; edit it there.\n';
const files = definitions.flatMap((definition) => {
  const text = header + stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false });
  return folders.map((folder) => ({ path: join(root, folder, `${String(definition.metadata.name)}.yaml`), text }));
});

const pages: Readonly<Record<string, string>> = {
  'injectorconfigs.sidecar-injector.io': 'injector-config-fields.md',
  'revisiontags.sidecar-injector.io': 'revision-tag-fields.md',
};
for (const definition of definitions) {
  const page = pages[definition.metadata.name ?? ''];
  if (page === undefined) throw new Error(`no page is named for ${definition.metadata.name ?? ''}`);
  files.push({ path: join(root, 'docs', page), text: resourceReference(definition) });
}

const measurements = join(root, 'docs', 'measurements');
files.push({ path: join(root, 'docs', 'performance.md'), text: performancePage(measurements) });

const source = 'Generated from the source by `make generate`.';
for (const [name, [title, ...parts]] of Object.entries(referencePages)) {
  files.push({ path: join(root, 'docs/reference', `${name}.md`), text: `${[title, source, ...parts].join('\n\n')}\n` });
}

const stale = files.filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
const names = stale.map(({ path }) => relative(root, path));

if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(
      `generated files differ from their source: ${names.join(', ')}; run npm run generate and commit them`,
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
