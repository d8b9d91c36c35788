import { orElse, type Meter } from '../../exec/meter.ts';
import { any, string } from '../../exec/parameters.ts';
import { formatDuration, parseDuration } from '../../go-duration.ts';
import { calendarCycle, formatTime, localZone, parseTime, partsOf, secondsOf, unixStart } from '../../go-time.ts';
import type { GoTime } from '../../go-time.ts';
import { int64Type, intType, pointerTo, stringType } from '../../go-type.ts';
import type { GoField, GoMethod, GoType, StructType } from '../../go-type.ts';
import { Integer } from '../../integer.ts';
import { quoteString } from '../../quote.ts';
import { TypedValue } from '../../typed-value.ts';
import { typeNameOf } from '../../value-kind.ts';
import { goFunction, meteredFunction, type FunctionTable, type Parameter } from '../go/go-function.ts';
import { atoi } from './number-value.ts';

function field(name: string, type: GoType): GoField {
  return { name, json: name, type };
}

const locationFields = [field('name', stringType), field('offset', intType)];
const location: StructType = { kind: 'struct', name: 'time.Location', fields: locationFields };
const timeType: StructType & Parameter<TypedValue> = {
  kind: 'struct',
  name: 'time.Time',
  fields: [field('wall', { kind: 'uint64' }), field('ext', int64Type), field('loc', pointerTo(location))],
  toJson: (raw) => {
    const { year = 0 } = partsOf(raw as GoTime);
    if (year >= 0 && year <= 9999 && Math.abs((raw as GoTime).loc?.offset ?? 0) < 86_400)
      return JSON.stringify(formatTime(raw as GoTime, '2006-01-02T15:04:05.999999999Z07:00'));
    throw new Error('json: error calling MarshalJSON for type time.Time: year or timezone hour out of range');
  },
  get methods() {
    return methods;
  },
};

function method(result: GoType, read: (time: GoTime, argument: string) => unknown, ...parameters: GoType[]): GoMethod {
  return { result, parameters, call: (raw, argument) => read(raw as GoTime, argument as string) };
}

function unixOf({ ext }: GoTime): bigint {
  return BigInt.asIntN(64, ext - unixStart);
}

/** Returns the text for %#v. */
function goString(time: GoTime): string {
  const { year, day, hour, minute, second } = partsOf(time);
  const zone = time.loc === localZone ? 'Local' : `Location(${quoteString(time.loc?.name ?? '')})`;
  const numbers = [year, formatTime(time, 'time.January'), day, hour, minute, second, time.wall].join(', ');
  return `time.Date(${numbers}, time.${time.loc === null ? 'UTC' : zone})`;
}

const numberMethods = ['Year', 'YearDay', 'Day', 'Hour', 'Minute', 'Second'].map((name) => {
  const part = name.charAt(0).toLowerCase() + name.slice(1);
  return [name, method(intType, (time) => partsOf(time)[part])] as const;
});
const methods: Readonly<Record<string, GoMethod>> = {
  ...Object.fromEntries(numberMethods),
  Format: method(stringType, formatTime, stringType),
  GoString: method(stringType, goString),
  String: method(stringType, (time) => formatTime(time, '2006-01-02 15:04:05.999999999 -0700 MST')),
  UTC: method(timeType, (time) => ({ ...time, loc: null })),
  Unix: method(int64Type, unixOf),
};

/** Converts a time or seconds since 1970; for other values sprig uses the present time. */
function timeOf(value: unknown): GoTime {
  if (value instanceof TypedValue && value.type === timeType) return value.raw as GoTime;
  const seconds = value instanceof Integer && /^int(?:32|64)$/.test(value.kind) ? value.value : value;
  if (typeof seconds === 'bigint') return { wall: 0, ext: BigInt.asIntN(64, seconds + unixStart), loc: localZone };
  const advice = 'give a time (toDate) or seconds since 1970 (int64)';
  throw new Error(`a date of type ${typeNameOf(value)} means the present time; ${advice}`);
}

/** Zone names that Intl accepts but Go rejects: other letter cases, and obsolete names. */
const foreignZone = /^(?:$|UTC$|Local$|[^A-Z]|SystemV|(?!(?:[CEMW]ET|[EHM]ST|UCT|GMT)$)[A-Z]{2}T$)|\/[a-z]|^.{50}/;

/** Returns the IANA zone at a time; UTC for an unknown name, as in sprig. */
function zoneAt(meter: Meter, zone: string, time: GoTime): GoTime['loc'] {
  if (foreignZone.test(zone)) return null;
  // The cost of a DateTimeFormat.
  meter.spend(10_000);
  const format = orElse(() => new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }), null);
  const known = format?.resolvedOptions().timeZone ?? '';
  if (format === null || (known !== zone && known.toLowerCase() === zone.toLowerCase())) return null;
  const unix = unixOf(time);
  // Date covers fewer years than Go; zone rules repeat with the calendar, and none predates 1811.
  const within = unix > 2n ** 40n ? (unix % calendarCycle) + calendarCycle : unix;
  const date = Math.max(Number(within), -5e9) * 1000;
  const shown = format.format(date);
  return { name: undefined, offset: secondsOf(shown.slice(shown.lastIndexOf('GMT') + 3)) };
}

function dateInZone(meter: Meter, layout: string, date: unknown, zone: string): string {
  const time = timeOf(date);
  return formatTime({ ...time, loc: zoneAt(meter, zone, time) }, layout);
}

function timeValue(time: GoTime): TypedValue {
  return new TypedValue(timeType, time);
}

function later(duration: bigint, time: TypedValue): TypedValue {
  const { wall, ext, loc } = time.raw as GoTime;
  const nanoseconds = BigInt(wall) + duration;
  const kept = ((nanoseconds % second) + second) % second;
  return timeValue({ wall: Number(kept), ext: ext + (nanoseconds - kept) / second, loc });
}

const second = 1_000_000_000n;
/** The units to which sprig rounds, largest first, in seconds. */
const roundUnits = Object.entries({ y: 31_536_000n, mo: 2_592_000n, d: 86_400n, h: 3600n, m: 60n, s: 1n });

const int64Of = (value: unknown) => (value instanceof Integer && value.kind === 'int64' ? value.value : 0n);

/** Converts seconds from a string or int64; other values are 0. */
function duration(value: unknown): string {
  const seconds = typeof value === 'string' ? atoi(value) : int64Of(value);
  return formatDuration(BigInt.asIntN(64, seconds * second));
}

/** Rounds a duration (a string, or nanoseconds as int64) to its largest unit. */
function durationRound(value: unknown): string {
  if (value instanceof TypedValue && value.type === timeType)
    throw new Error('the time since a date depends on the present time; give a duration');
  const nanoseconds = typeof value === 'string' ? orElse(() => parseDuration(value), 0n) : int64Of(value);
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const unit = roundUnits.find(([, seconds]) => magnitude > seconds * second);
  return unit === undefined ? '0s' : `${magnitude / (unit[1] * second)}${unit[0]}`;
}

/** The cost of parsing a layout or value element by element. */
const parsing = { weight: 32 };
const inZone = meteredFunction([string, any, string], dateInZone, parsing);
const modify = goFunction(
  [string, timeType],
  (text, time) =>
    later(
      orElse(() => parseDuration(text), 0n),
      time,
    ),
  parsing,
);
const mustModify = goFunction([string, timeType], (text, time) => later(parseDuration(text), time), parsing);
const htmlLayout = '2006-01-02';
const zeroTime: GoTime = { wall: 0, ext: 0n, loc: null };

/** sprig's functions on times that do not read the clock. The local zone is UTC, as in Istio. */
export const timeFunctions: FunctionTable = {
  date: meteredFunction([string, any], (meter, layout, date) => dateInZone(meter, layout, date, ''), parsing),
  dateInZone: inZone,
  dateModify: modify,
  date_in_zone: inZone,
  date_modify: modify,
  duration: goFunction([any], duration),
  durationRound: goFunction([any], durationRound, parsing),
  htmlDate: meteredFunction([any], (meter, date) => dateInZone(meter, htmlLayout, date, ''), parsing),
  htmlDateInZone: meteredFunction(
    [any, string],
    (meter, date, zone) => dateInZone(meter, htmlLayout, date, zone),
    parsing,
  ),
  mustDateModify: mustModify,
  mustToDate: goFunction([string, string], (layout, text) => timeValue(parseTime(layout, text)), parsing),
  must_date_modify: mustModify,
  toDate: goFunction(
    [string, string],
    (layout, text) => timeValue(orElse(() => parseTime(layout, text), zeroTime)),
    parsing,
  ),
  unixEpoch: goFunction([timeType], (time) => String(unixOf(time.raw as GoTime))),
};
