import { posix } from 'node:path';

/** Folders and files whose Markdown is for developers, and is not part of the site. */
export const unrendered = [
  '**/node_modules/**',
  '.build/**',
  '{bench,dist,packaging,release,scripts,src}/**',
  'docs/measurements/**',
  'README.md',
];

const isPage = (file: string): boolean =>
  /\.md$/.test(file) &&
  !/^(?:bench|packaging|scripts|src)\//.test(file) &&
  !file.startsWith('docs/measurements/') &&
  file !== 'README.md';

/** Returns the file on the site for a page: `lint/index.md` for `docs/lint/README.md`. */
export function sitePath(file: string): string {
  if (file === 'site/index.md') return 'index.md';
  if (file === 'docs/README.md') return 'contents.md';
  if (file === 'CHANGELOG.md') return 'changes.md';
  return file
    .replace(/^(?:docs|site)\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.md')
    .replace(/^[A-Z]+\.md$/, (name) => name.toLowerCase());
}

/**
 * Returns the address on the site for a link in a file of this repository. Files and folders that
 * are not pages are shown by the repository's host.
 * @param file the path of the file with the link, from the root of the repository
 */
export function siteLink(href: string, file: string, repository: string): string {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(file), path);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (isPage(target)) return `/${sitePath(target)}${hash}`;
  if (/^(?:catalog|examples)\/[^/]*\.yaml$/.test(target)) return `/${target.replace(/yaml$/, 'md')}${hash}`;
  return `${repository}/blob/main/${target}${hash}`;
}

/** The files of examples/ and catalog/ that the playground offers; the link is `#example=NAME`. */
export const offeredExamples = [
  ...['hello', 'revision-tag-canary', 'istio-1.1-release', 'kubesphere-logsidecar'],
  ...['log-shipper', 'oauth2-proxy', 'vault-agent', 'envoy'],
];

/** Returns the page of an example: what the header of its file says, then the rest of the file. */
export function examplePage(name: string, file: string): string {
  const [header = ''] = /^(?:#.*\n)+/.exec(file) ?? [];
  const about = header
    .replace(/^# ?/gm, '')
    .replaceAll('<', '&lt;')
    // Commands are indented.
    .replace(/(?:^ {2}.*\n)+/gm, (commands) => `\`\`\`sh\n${commands.replace(/^ {2}/gm, '')}\`\`\`\n`)
    .trim();
  const attempt = `[Try it in the playground](/try/#example=${name}){target="_self"} · `;
  const links = `${offeredExamples.includes(name) ? attempt : ''}[All of them](./)`;
  return `# ${name}\n\n${about}\n\n${links}\n\n\`\`\`yaml\n${file.slice(header.length)}\`\`\`\n`;
}

/** Returns the anchor that GitHub gives a heading, so that a link works there and here. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** A section of the contents, with the paths of its pages. */
export interface Section {
  readonly title: string;
  readonly pages: readonly string[];
}

/** Returns the sections of docs/README.md: each item of its list is a section. */
export function sectionsOf(contents: string): Section[] {
  return contents
    .split(/^- /m)
    .slice(1)
    .map((item) => ({
      title: item.slice(0, item.indexOf(':')),
      pages: [...item.matchAll(/\]\(([^)#]*)\)/g)].map(([, href = '']) => posix.join('docs', href)),
    }));
}
