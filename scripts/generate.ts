/**
 * Writes the files that are made from the source: `crds/*.yaml`, the chart's copy of them, and the pages of fields in `docs/`. With `--check` writes nothing and fails when a
 * file is not what it would write (`npm run verify`).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { stringify } from 'yaml';
import { customResourceDefinitions } from '../src/api/crd.ts';
import { resourceReference } from './reference/resource-reference.ts';

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
