/** A page for each file of catalog/ and examples/. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examplePage } from '../../scripts/site/pages.ts';

const root = join(import.meta.dirname, '../..');

const pagesOf = (folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => {
      const name = file.slice(0, -'.yaml'.length);
      return { params: { folder, name }, content: examplePage(name, readFileSync(join(root, folder, file), 'utf8')) };
    });

export default {
  watch: ['../../{catalog,examples}/*.yaml'],
  paths: () => ['catalog', 'examples'].flatMap(pagesOf),
};
