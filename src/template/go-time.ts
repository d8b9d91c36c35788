import { withoutTrailingZeros } from './functions/go/format-float.ts';
import { quoteBytes } from './go-duration.ts';

/** A time as in Go: nanoseconds of the second, seconds since the year 1, zone (`null` is UTC). */
export interface GoTime {
  readonly wall: number;
  readonly ext: bigint;
  /** `offset` is in seconds east of UTC. Name '' means the offset; undefined means no name. */
  readonly loc: { readonly name: string | undefined; readonly offset: number } | null;
}

/** The local zone of Istio's container, which configures no zone. */
export const localZone = { name: 'UTC', offset: 0 };
/** The zones that Go caches. For any other offset, Go allocates a new zone. */
const cachedZones = [localZone, ...Array.from({ length: 27 }, (_, hour) => ({ name: '', offset: (hour - 12) * 3600 }))];

/** The seconds from the year 1 to 1970. */
export const unixStart = 62_135_596_800n;
/** The seconds in 400 years, the calendar's cycle. Go counts from `cyclesBefore` before year 0. */
export const calendarCycle = 12_622_780_800n;
const cyclesBefore = 730_692_556n;

/** The names of months and days, and of the halves of a day, by number; months start at 1. */
const names: Readonly<Record<string, readonly string[]>> = {
  month: ' January February March April May June July August September October November December'.split(' '),
  weekday: 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' '),
  half: ['AM', 'PM'],
};
const largest: Readonly<Record<string, number>> = { month: 12, hour: 23, hour12: 12, minute: 59, second: 59 };

/** The elements of layouts except zones and fractions. */
const elements = {
  month: 'January Jan 01 1',
  weekday: 'Monday Mon',
  half: 'PM pm',
  year: '2006 06',
  day: '02 _2 2',
  yearDay: '002 __2',
  hour: '15',
  hour12: '03 3',
  minute: '04 4',
  second: '05 5',
};
const parts = new Map(
  Object.entries(elements).flatMap(([part, texts]) => texts.split(' ').map((text) => [text, part] as const)),
);
const elementForm =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|0[1-6]|002|15|2006|__2|_2(?!006)|PM|pm|[-Z]07(?:00(?:00)?|:00(?::00)?)?|[.,](?:0+|9+)(?!\d)|[1-5]/g;

/** Splits a time into the calendar and clock of its zone. */
export function partsOf({ ext, loc }: GoTime): Record<string, number> {
  const fromMarch = BigInt((loc?.offset ?? 0) + 26_438_400);
  const seconds = BigInt.asUintN(64, ext + fromMarch + cyclesBefore * calendarCycle);
  // Moves the time into a cycle that Date supports.
  const date = new Date(Number(seconds % calendarCycle) * 1000 + Date.UTC(2000, 2, 1));
  const [shown = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = date.toISOString().split(/\D/).map(Number);
  const year = shown - 2000 + 400 * Number(seconds / calendarCycle - cyclesBefore);
  const yearDay = Math.floor((date.getTime() - Date.UTC(shown, 0, 1)) / 86_400_000) + 1;
  const [weekday, half, hour12] = [date.getUTCDay(), Math.floor(hour / 12), hour % 12 || 12];
  return { year, month, day, yearDay, weekday, half, hour, hour12, minute, second };
}

function pad(number: number, width = 2, filler = '0'): string {
  return (number < 0 ? '-' : '') + String(Math.abs(number)).padStart(width, filler);
}

/** Returns the names that an element can print; empty for an element that prints a number. */
function namesOf(element: string): readonly string[] {
  const all = /[a-zM]/.test(element) ? (names[parts.get(element) ?? ''] ?? []) : [];
  if (element === 'pm') return all.map((name) => name.toLowerCase());
  return element.length === 3 ? all.map((name) => name.slice(0, 3)) : all;
}

/** Limits the length of the texts, which Go does not do. No real text is that long. */
function checkLength(...texts: readonly string[]): void {
  if (texts.some((text) => text.length > 1000))
    throw new Error('time: a layout or a value of more than 1000 characters');
}

/** Go's Time.Format. @throws Error for an unknown abbreviation of a zone */
export function formatTime(time: GoTime, layout: string): string {
  checkLength(layout);
  const { name, offset } = time.loc ?? localZone;
  const shown = partsOf(time);
  return layout.replace(elementForm, (element) => {
    const value = shown[parts.get(element) ?? ''];
    if (value !== undefined) {
      const number = element === '06' ? Math.abs(value) % 100 : value;
      return namesOf(element)[value] ?? pad(number, element.length, element.startsWith('_') ? ' ' : '0');
    }
    if (/^[.,]/.test(element)) {
      const digits = pad(time.wall, 9).slice(0, element.length - 1);
      const kept = element[1] === '0' ? digits : withoutTrailingZeros(digits);
      return kept === '' ? '' : element.charAt(0) + kept;
    }
    if (element !== 'MST') return formatOffset(offset, element);
    if (name === undefined) throw new Error('time: zones have no abbreviations here; write -0700 instead of MST');
    return name === '' ? formatOffset(offset, '-0700') : name;
  });
}

function formatOffset(offset: number, element: string): string {
  if (offset === 0 && element.startsWith('Z')) return 'Z';
  const minutes = Math.trunc(offset / 60);
  const size = Math.abs(minutes);
  const shown = [Math.trunc(size / 60), size % 60, (minutes < 0 ? -offset : offset) % 60];
  return (minutes < 0 ? '-' : '+') + element.slice(1).replace(/\d\d/g, () => pad(shown.shift() ?? 0));
}

const zoneForm =
  /^(?:ChST|MeST|GMT(?:[+-]0*(?:1?\d|2[0-3])(?!\d))?|(?=[^]{3})[+-]0*(?:1?\d|2[0-3])(?!\d)|(?:[A-Z]{3,4}T|WITA|[A-Z]{3})(?![A-Z]))/;

/** Returns a pattern: `d` is a digit, `s` a sign, `n` either of them, `p` a point, `*` any. */
function patternOf(element: string): RegExp | string {
  const { length } = element;
  if (element === 'MST') return zoneForm;
  if (/^[-Z]/.test(element)) return `s${element.slice(1).replace(/\d/g, 'd')}`;
  if (/^[.,]9/.test(element)) return /^(?:[.,]\d+)?/;
  // Only nine characters count, of which the first may be a sign.
  const counted = Math.min(length, 10) - 2;
  if (/^[.,]/.test(element)) return `pn${'d'.repeat(counted)}${'*'.repeat(length - 2 - counted)}`;
  if (element === '06') return 'nd';
  if (element.startsWith('_')) return length === 2 ? /^ ?\d{1,2}/ : /^ {0,2}\d{1,3}/;
  return length === 1 || element === '15' ? /^\d\d?/ : 'd'.repeat(length);
}

const shapes: Readonly<Record<string, RegExp>> = { d: /\d/, s: /[+-]/, n: /[\d+-]/, p: /[.,]/, '*': /[^]/ };

/** Returns the text that an element matches at the start; `undefined` if none matches. */
function beginningFor(element: string, text: string): string | undefined {
  const names = namesOf(element).filter((name) => name !== '');
  const plain = (name: string): string => (element.length > 2 ? name.toLowerCase() : name);
  const found = names.find((name) => plain(text.slice(0, name.length)) === plain(name));
  if (names.length > 0) return found && text.slice(0, found.length);
  const pattern = patternOf(element);
  if (typeof pattern !== 'string') return pattern.exec(text)?.[0];
  const fits = Array.from(pattern).every((shape, at) => shapes[shape]?.test(text.charAt(at)) ?? shape === text[at]);
  return fits ? text.slice(0, pattern.length) : undefined;
}

/** Go's time.ParseInLocation in the local zone. @throws Error with Go's message */
export function parseTime(layout: string, value: string): GoTime {
  checkLength(layout, value);
  const read: Record<string, number> = {};
  let [rest, wall, isUtc, zone, offset, at] = [value, 0, false, '', -1, 0];
  const failure = (reason: string): Error => new Error(`parsing time ${quoteBytes(value)}${reason}`);
  const unfit = (element: string): Error =>
    failure(` as ${quoteBytes(layout)}: cannot parse ${quoteBytes(rest)} as ${quoteBytes(element)}`);
  const take = (element: string): string => {
    const text = beginningFor(element, rest);
    if (text === undefined) throw unfit(element);
    rest = rest.slice(text.length);
    return text;
  };
  const skip = (text: string): void => {
    let left = rest;
    for (const [run] of text.matchAll(/ +|[^ ]+/g)) {
      // A run of spaces matches any number of spaces, and at the end also no space.
      const found = run.startsWith(' ') ? (/^ +/.exec(left)?.[0] ?? '') : run;
      if (run.startsWith(' ') ? found === '' && left !== '' : !left.startsWith(run)) throw unfit(text);
      left = left.slice(found.length);
    }
    rest = left;
  };
  const takeFraction = (element: string): void => {
    const text = take(element).slice(0, 10);
    const fraction = Number(text.slice(1)) * 10 ** (10 - text.length);
    if (!(fraction >= 0)) throw failure(': fractional second out of range');
    if (text !== '') wall = fraction;
  };
  const found = Array.from(layout.matchAll(elementForm));
  for (const [index, { 0: element, index: start }] of found.entries()) {
    skip(layout.slice(at, start));
    at = start + element.length;
    const part = parts.get(element);
    if (part !== undefined) {
      const text = take(element);
      const place = namesOf(element).findIndex((name) => name.toLowerCase() === text.toLowerCase());
      const number = place < 0 ? Number(text) : place;
      if (number > (largest[part] ?? Infinity) || (part === 'month' && number < 1)) throw failure(': out of range');
      read[part.replace('12', '')] = element === '06' ? number + (number >= 69 ? 1900 : 2000) : number;
      // The value may have a fraction that the layout lacks.
      if (part === 'second' && !/^[.,]/.test(found[index + 1]?.[0] ?? '')) takeFraction('.9');
    } else if (/^[.,]/.test(element)) takeFraction(element);
    else if (element === 'MST' ? rest.startsWith('UTC') : /^ZZ/.test(element.charAt(0) + rest)) {
      isUtc = true;
      rest = rest.slice(element === 'MST' ? 3 : 1);
    } else if (element === 'MST') zone = take(element);
    else offset = secondsOf(take(element));
  }
  skip(layout.slice(at));
  if (rest !== '') throw failure(`: extra text: ${quoteBytes(rest)}`);
  const { year = 0, yearDay, half, hour = 0, minute = 0, second = 0 } = read;
  const date = new Date(0);
  date.setUTCFullYear(year, yearDay === undefined ? (read.month ?? 1) - 1 : 0, yearDay ?? read.day ?? 1);
  const [month, day] = [date.getUTCMonth() + 1, date.getUTCDate()];
  const isDay = date.getUTCFullYear() === year && month === (read.month ?? month) && day === (read.day ?? day);
  if (!isDay || Number.isNaN(offset)) throw failure(': day or time zone offset out of range');
  const change = half === 1 && hour < 12 ? 12 : half === 0 && hour === 12 ? -12 : 0;
  const ext = BigInt(date.setUTCHours(hour + change, minute, second) / 1000) + unixStart;
  if (isUtc) return { wall, ext, loc: null };
  const cached = zone === '' ? cachedZones.find((one) => one.offset === offset) : undefined;
  if (offset !== -1) return { wall, ext: ext - BigInt(offset), loc: cached ?? { name: zone, offset } };
  // Go treats an offset of -1 second as unset, and applies the hours of GMT+3 only to the output.
  const hours = Number(/^GMT(.+)/.exec(zone)?.[1] ?? 0);
  return { wall, ext, loc: zone === '' ? localZone : { name: zone, offset: hours * 3600 } };
}

/** Converts +01, +0100, +01:00:00 and similar to seconds; NaN for invalid offsets. */
export function secondsOf(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = (text.match(/\d\d/g) ?? []).map(Number);
  if (hours > 24 || minutes > 60 || seconds > 60) return NaN;
  return (hours * 3600 + minutes * 60 + seconds) * (text.includes('-') ? -1 : 1);
}
