/** The documentation site: docs/ and the READMEs that it links to, rendered by VitePress. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig } from 'vitepress';
import { sectionsOf, siteLink, sitePath, slug, unrendered } from '../../scripts/site/pages.ts';

const root = join(import.meta.dirname, '../..');
const read = (file) => readFileSync(join(root, file), 'utf8');
const titleOf = (page) => /^# (.*)$/m.exec(read(page))[1].replaceAll('`', '');
const { version } = JSON.parse(read('package.json'));
/** The path of this version and of the newest one on their host, and the released versions (publish.sh). */
const { BASE: base = '/', HOST_BASE: newest = base, VERSIONS: versions = '' } = process.env;
const released = versions.split(' ').filter((each) => each !== '');
const repository = 'https://github.com/sidecar-injector/sidecar-injector';

export default defineConfig({
  title: 'Sidecar injector',
  description: 'Manages sidecar injectors for Kubernetes: certificates, webhooks, canary rollouts.',
  base,
  srcDir: root,
  srcExclude: unrendered,
  rewrites: sitePath,
  outDir: join(root, '.build/site'),
  cacheDir: join(root, '.build/site-cache'),
  // The playground is copied to the site after VitePress has ended; scripts/site.ts checks its links.
  ignoreDeadLinks: [/^\/try\//],
  vite: {
    publicDir: false,
    // The pages are outside of site/, where Vue is installed.
    resolve: {
      alias: [
        { find: /^vue$/, replacement: join(root, 'site/node_modules/vue/dist/vue.runtime.esm-bundler.js') },
        { find: /^vue\/server-renderer$/, replacement: join(root, 'site/node_modules/vue/server-renderer/index.mjs') },
      ],
    },
    ssr: { noExternal: true },
    build: { chunkSizeWarningLimit: 2000 },
  },
  markdown: {
    anchor: { slugify: slug },
    config(markdown) {
      // Braces of templates are text here, not Vue's.
      const { text, code_inline } = markdown.renderer.rules;
      const withBraces =
        (rule) =>
        (...parts) =>
          rule(...parts).replaceAll('{{', '&#123;&#123;');
      Object.assign(markdown.renderer.rules, { text: withBraces(text), code_inline: withBraces(code_inline) });
      markdown.core.ruler.push('links-of-this-repository', ({ tokens, env }) => {
        // The search index passes no realPath, and does not read links.
        const { realPath, path } = env;
        const file = relative(root, realPath ?? path);
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href');
          if (token.type === 'link_open' && href !== null) token.attrSet('href', siteLink(href, file, repository));
        }
        return true;
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Playground', link: '/try/', target: '_self' },
      {
        text: version,
        items: [
          { text: 'Changes', link: '/changes' },
          ...(base === newest ? [] : [{ text: 'newest', link: '/../', target: '_self' }]),
          ...released.map((each) => ({
            text: each,
            link: `${base === newest ? '' : '/..'}/${each}/`,
            target: '_self',
          })),
        ],
      },
    ],
    sidebar: sectionsOf(read('docs/README.md')).map(({ title, pages }) => ({
      text: title,
      items: pages.map((page) => ({ text: titleOf(page), link: `/${sitePath(page).replace(/\.md$/, '')}` })),
    })),
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/:path` },
  },
});
