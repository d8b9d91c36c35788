import { createHash } from 'node:crypto';

/** Escapes a text for elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Returns the source expression of a Content-Security-Policy for an element without attributes. */
export function sourceHash(element: 'style' | 'script', page: string): string {
  return `'sha256-${createHash('sha256').update(elementText(element, page)).digest('base64')}'`;
}

/** Returns the content of the first such element of a page. */
export function elementText(element: 'style' | 'script', page: string): string {
  const start = page.indexOf(`<${element}>`) + element.length + 2;
  return page.slice(start, page.indexOf(`</${element}>`, start));
}
