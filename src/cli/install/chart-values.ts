import { isPlainMap } from '../../template/value-kind.ts';

/** The values of a chart: JSON, with integers of `--set` as bigint so that no digit is lost. */
export type ChartValues = Record<string, unknown>;

/** Merges maps by key, as helm does. If `dropsNulls` is true, null removes a key of `base`. */
export function mergeValues(base: ChartValues, over: ChartValues, dropsNulls = false): ChartValues {
  const known = new Map(Object.entries(base));
  const merged = Object.entries(over).flatMap(([key, value]): [string, unknown][] => {
    const old = known.get(key);
    if (value === null && dropsNulls && known.delete(key)) return [];
    return [[key, isPlainMap(old) && isPlainMap(value) ? mergeValues(old, value, dropsNulls) : value]];
  });
  return Object.fromEntries([...known, ...merged]);
}

/** A key with indices; a backslash escapes the next character. */
const step = /((?:\\[^]|[^\\=[,.])+)((?:\[\d{1,5}\])*)([.=])/y;
const list = /\{((?:\\[^]|[^\\}])*)\}(?:,|$)/y;
const single = /((?:\\[^]|[^\\,])*)(?:,|$)/y;

/** Applies a `--set` in helm's syntax: `a.b=c,d[0]=e,f={g,h}`. @throws Error for invalid syntax */
export function setValues(values: ChartValues, text: string): ChartValues {
  let result: unknown = values;
  let at = 0;
  const take = (pattern: RegExp): string[] => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) throw new Error(`"${text.slice(at)}" is not KEY=VALUE such as a.b=c, d[0]=e or f={g,h}`);
    at += match[0].length;
    return match.slice(1);
  };
  while (at < text.length) {
    const path: (string | number)[] = [];
    for (let end: string | undefined = '.'; end === '.';) {
      const [key = '', indices = '', last] = take(step);
      path.push(unescape(key), ...Array.from(indices.matchAll(/\d+/g), Number));
      end = last;
    }
    const isList = text[at] === '{';
    const [value = ''] = take(isList ? list : single);
    const items = [''];
    for (const [token] of value.matchAll(/\\[^]|[^\\]/g)) {
      if (token === ',') items.push('');
      else items.push(`${items.pop() ?? ''}${token}`);
    }
    result = put(result, path, isList ? items.map(typed) : typed(value));
  }
  return result as ChartValues;
}

function unescape(text: string): string {
  return text.replaceAll(/\\([^])/g, '$1');
}

/** Infers the type as helm does: boolean, null, 64-bit integer without leading zeros, or text. */
function typed(escaped: string): unknown {
  const text = unescape(escaped);
  if (/^(?:true|false|null)$/i.test(text)) return JSON.parse(text.toLowerCase());
  if (text !== '0' && !/^(?:[1-9]|[-+]\d)\d*$/.test(text)) return text;
  const integer = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, integer) === integer ? integer : text;
}

/** Returns a copy of a value with the value at a path (keys of maps, indices of lists) replaced. */
function put(old: unknown, [first, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (first === undefined) return value;
  const isIndex = typeof first === 'number';
  const known = old ?? (isIndex ? [] : {});
  if (isIndex && Array.isArray(known)) {
    const items = Array.from(
      { length: Math.max(known.length, first + 1) },
      (_, index): unknown => known[index] ?? null,
    );
    return items.with(first, put(items[first], rest, value));
  }
  if (isIndex || !isPlainMap(known)) throw new Error(`${first}: the existing value has another type`);
  const inner = Object.hasOwn(known, first) ? known[first] : undefined;
  return { ...known, [first]: put(inner, rest, value) };
}
