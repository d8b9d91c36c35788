import { canonical, toBytes } from './go-string.ts';
import { isPrintable } from './quote.ts';

const htmlEscapes: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

/** The builtin `html`: what has a meaning in HTML becomes an entity. */
export function escapeHtml(text: string): string {
  return text.replace(/[\0"'&<>]/g, (character) => htmlEscapes[character] as string);
}

/** The builtin `js`: safe inside a JavaScript string literal. */
export function escapeJavaScript(text: string): string {
  return canonical(text).replace(/[\\'"<>&=]|[^ -~\x7f]/gu, (character) => {
    if (character === '\\' || character === "'" || character === '"') return `\\${character}`;
    const code = character.codePointAt(0) as number;
    // A stray byte stays: Go takes it for U+FFFD, which is printable.
    if ((code >= 0xdc80 && code <= 0xdcff) || (code >= 0x80 && isPrintable(character))) return character;
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** What each byte is in a query. */
const queryEscapes: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z0-9\-_.~]/.test(character)) return character;
  return character === ' ' ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** The builtin `urlquery`: Go's url.QueryEscape, which keeps letters, digits and -_.~ and writes a space as +. */
export function escapeUrlQuery(text: string): string {
  return Array.from(toBytes(text), (byte) => queryEscapes[byte]).join('');
}
