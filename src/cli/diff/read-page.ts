import { readFileSync } from 'node:fs';

/** Reads the page from the checkout; the bundle contains the page (scripts/bundle/bundle.ts). */
export function readPage(): string {
  return readFileSync(new URL('page.html', import.meta.url), 'utf8');
}
