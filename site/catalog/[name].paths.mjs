/** A page for each file of catalog/. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogPage } from '../../scripts/site/pages.ts';

const catalog = join(import.meta.dirname, '../../catalog');

export default {
  watch: ['../../catalog/*.yaml'],
  paths: () =>
    readdirSync(catalog)
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => {
        const name = file.slice(0, -'.yaml'.length);
        return { params: { name }, content: catalogPage(name, readFileSync(join(catalog, file), 'utf8')) };
      }),
};
