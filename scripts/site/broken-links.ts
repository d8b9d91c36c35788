import { posix } from 'node:path';

/** A site as a server would send it. */
export interface Site {
  /** The path of the site on its host, with a slash at both ends. */
  readonly base: string;
  /** The HTML of each page, by its path in the site. */
  readonly pages: ReadonlyMap<string, string>;
  readonly exists: (file: string) => boolean;
  /** Paths on the host that belong to other sites, such as other versions. */
  readonly others: readonly string[];
}

/** Finds links within a site that lead to no file, or to an anchor that its page does not have. */
export function brokenLinks({ base, pages, exists, others }: Site): { links: number; broken: string[] } {
  const anchors = new Map([...pages].map(([page, html]) => [page, new Set(attributes(html, 'id'))]));
  const broken: string[] = [];
  let links = 0;
  for (const [page, html] of pages) {
    for (const href of new Set([...attributes(html, 'href'), ...attributes(html, 'src')])) {
      if (/^(?:[a-z]+:|\/\/)/.test(href)) continue;
      links++;
      const [path = '', anchor = ''] = href.split('#');
      const full = path === '' ? `${base}${page}` : posix.resolve(posix.dirname(`${base}${page}`), path);
      const absolute = path.endsWith('/') && full !== '/' ? `${full}/` : full;
      if (others.includes(absolute) && absolute !== base) continue;
      const name = decodeURIComponent(absolute.slice(base.length));
      const target = name === '' || name.endsWith('/') ? `${name}index.html` : name;
      const isFound = absolute.startsWith(base) && exists(target);
      const hasAnchor = anchor === '' || anchors.get(target)?.has(decodeURIComponent(anchor)) === true;
      if (!isFound || !hasAnchor) broken.push(`${page}: ${href}`);
    }
  }
  return { links, broken };
}

function attributes(html: string, name: 'id' | 'href' | 'src'): string[] {
  const texts = { id: / id="([^"]*)"/g, href: / href="([^"]*)"/g, src: / src="([^"]*)"/g };
  return [...html.matchAll(texts[name])].map(([, value = '']) => value.replaceAll('&amp;', '&'));
}
