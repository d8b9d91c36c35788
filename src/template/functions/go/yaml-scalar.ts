import { orElse } from '../../exec/meter.ts';
import { parseTime } from '../../go-time.ts';
import { parseFloat64, parseInteger } from '../../parse/number-literal.ts';

/** How a scalar is written. */
export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal';

const reserved: ReadonlySet<string> = new Set([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'],
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'],
  ...['', '~', 'null', 'Null', 'NULL', '.nan', '.NaN', '.NAN', '.inf', '.Inf', '.INF'],
  ...['+.inf', '+.Inf', '+.INF', '-.inf', '-.Inf', '-.INF'],
]);
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const timestamps = ['2006-1-2T15:4:5Z07:00', '2006-1-2t15:4:5Z07:00', '2006-1-2 15:4:5', '2006-1-2'];

/** Reports whether YAML 1.1 in go-yaml 2 reads the plain text as another type than string. */
export function resolvesToOther(text: string): boolean {
  if (reserved.has(text)) return true;
  if (!/^[-+.0-9]/.test(text)) return false;
  if (text.startsWith('.')) return parseFloat64(text) !== undefined;
  if (isTimestamp(text) || sexagesimal.test(text)) return true;
  const plain = text.replaceAll('_', '');
  const value = parseInteger(plain);
  if (value !== undefined && value >= -(2n ** 63n) && value < (/^[-+]/.test(plain) ? 2n ** 63n : 2n ** 64n))
    return true;
  return float.test(plain) && Number.isFinite(Number(plain));
}

function isTimestamp(text: string): boolean {
  const reads = (layout: string): boolean => orElse(() => Boolean(parseTime(layout, text)), false);
  return /^[0-9]{4}-[0-9]/.test(text) && timestamps.some(reads);
}

const lineBreak = /[\n\r\u0085\u2028\u2029]/;
/** Characters that need an escape: controls (and tab), those beyond U+FFFF, the byte order mark. */
const unprintable = /[^\n\r\x20-\x7e\u0085\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;

/** Plain words that need no further check. */
const word = /^[A-Za-z/][A-Za-z0-9/_.-]*$/;

/** Returns go-yaml 2's style for a string, and whether it spans several lines. */
export function styleOf(text: string, isKey: boolean): { readonly style: ScalarStyle; readonly multiline: boolean } {
  if (word.test(text) && !reserved.has(text)) return { style: 'plain', multiline: false };
  const multiline = lineBreak.test(text);
  // Carriage return and NEL are line breaks, but not printable.
  const unusual = unprintable.test(text) || /[\r\u0085]/.test(text);
  const spaceBeforeBreak = / [\n\r\u0085\u2028\u2029]/.test(text);
  if (text.includes('\n')) {
    const isLiteral = !isKey && !text.endsWith(' ') && !spaceBeforeBreak && !unusual;
    return { style: isLiteral ? 'literal' : 'double', multiline };
  }
  if (resolvesToOther(text) || (isKey && multiline)) return { style: 'double', multiline };
  const edges = /^[ \n\r\u0085\u2028\u2029]|[ \n\r\u0085\u2028\u2029]$/.test(text);
  const indicator =
    /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|$))/.test(text) ||
    /(?!^):(?:[ \t]|$)|[ \t\n\r\u0085\u2028\u2029\0]#/.test(text);
  if (!multiline && !unusual && !edges && !indicator) return { style: 'plain', multiline };
  const spaceAfterBreak = /[\n\r\u0085\u2028\u2029] /.test(text);
  return { style: spaceAfterBreak || spaceBeforeBreak || unusual ? 'double' : 'single', multiline };
}
