/**
 * `make site`: renders the documentation into .build/site, with the playground, and fails if a link
 * or an anchor leads nowhere. publish.sh sets BASE (the site's path on its host), HOST_BASE (the
 * newest version's) and VERSIONS (the released ones).
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { brokenLinks } from './site/broken-links.ts';
import { offeredExamples } from './site/pages.ts';

const { BASE: base = '/', HOST_BASE: newest = base, VERSIONS: versions = '' } = process.env;
const otherVersions = versions.split(' ').map((version) => `${newest}${version}/`);
const output = '.build/site';
const run = (...[command, ...parts]: readonly [string, ...string[]]): void =>
  void execFileSync(command, parts, { cwd: 'site', stdio: ['ignore', 'inherit', 'inherit'] });

if (!existsSync('site/node_modules/.package-lock.json')) run('npm', 'ci', '--no-audit', '--no-fund');
rmSync(output, { recursive: true, force: true });
run('node', 'node_modules/vitepress/bin/vitepress.js', 'build');
cpSync('dist/web/playground', join(output, 'try'), { recursive: true });
const pages = readdirSync(output, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));
const examples = offeredExamples.map((name) => `<i id="example=${name}"></i>`);
const site = {
  base,
  pages: new Map(
    pages.map((page) => {
      const html = readFileSync(join(output, page), 'utf8');
      // The playground's script reads the name of an example from the anchor.
      return [page, page === 'try/index.html' ? html + examples.join('') : html];
    }),
  ),
  exists: (file: string) => existsSync(join(output, file)),
  others: [newest, ...otherVersions],
};
const { links, broken } = brokenLinks(site);
const planted = '<a href="nowhere.html"></a><a href="index.html#nowhere"></a><a href="/../elsewhere/"></a>';
const found = brokenLinks({ ...site, pages: new Map([['planted.html', planted]]) }).broken.length;
if (found !== 3) broken.push(`only ${found} of 3 planted links are found`);
for (const each of broken) console.error(`broken link: ${each}`);
console.log(`site: ${pages.length} pages in ${output}, ${links} links and anchors, ${broken.length} broken`);
if (broken.length > 0) process.exitCode = 1;
