import { type UpdateWindow, weekdays } from '../api/revision-tag/rollout-strategy.ts';

const minuteMs = 60_000;
/** Time zones change their offset only at such times, and only by multiples of this time. */
const quarterMs = 15 * minuteMs;
const dayMinutes = 24 * 60;
const weekMinutes = 7 * dayMinutes;
/** How far to search: a clock change may skip the only window of a week. */
const horizonMs = 15 * dayMinutes * minuteMs;

/**
 * Returns when the next window opens; undefined if one is open now, or if there are no windows.
 * Windows follow the local clock: a window in the hour that a clock change repeats opens twice, and
 * a window in the hour that a clock change skips does not open.
 * @param now in milliseconds since 1970
 * @returns in milliseconds since 1970; Infinity if none opens in the next two weeks
 */
export function nextOpening(windows: readonly UpdateWindow[] | undefined, now: number): number | undefined {
  if (windows === undefined) return undefined;
  const clocks = new Map(windows.map(({ timeZone }) => [timeZone, localClock(timeZone)]));
  const first = Math.floor(now / quarterMs) * quarterMs;
  for (let quarter = first; quarter < first + horizonMs; quarter += quarterMs) {
    // To read a clock takes microseconds, and windows usually have the same one.
    const times = new Map([...clocks].map(([timeZone, clock]) => [timeZone, clock(quarter)]));
    const local = windows.map((window) => ({ window, minutes: times.get(window.timeZone) ?? 0 }));
    for (let passed = 0; passed < quarterMs; passed += minuteMs) {
      if (quarter + passed + minuteMs <= now) continue;
      if (!local.some(({ window, minutes }) => isWithin(window, minutes + passed / minuteMs))) continue;
      return quarter + passed <= now ? undefined : quarter + passed;
    }
  }
  return Infinity;
}

/** Says that no window is open, and when one opens. @param opensAt see {@link nextOpening} */
export function whenOpen(opensAt: number): string {
  const outside = 'it is outside the windows of spec.strategy.windows';
  if (opensAt === Infinity) return `${outside}, and none begins in the next two weeks: correct days, from and to`;
  return `${outside}: the next one begins at ${new Date(opensAt).toISOString().replace('.000Z', 'Z')}`;
}

/** @param minutes the local time, in minutes since the begin of Sunday */
function isWithin({ days, from, to }: UpdateWindow, minutes: number): boolean {
  const begin = minutesOf(from);
  const length = (minutesOf(to) - begin + dayMinutes) % dayMinutes || dayMinutes;
  // A window that begins on Saturday may end on Sunday.
  return (days ?? weekdays).some((day) => {
    const since = minutes - weekdays.indexOf(day) * dayMinutes - begin;
    return (since + 2 * weekMinutes) % weekMinutes < length;
  });
}

function minutesOf(time: string): number {
  const [hours = '', minutes = ''] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** Returns a function that converts a time to local minutes since the begin of Sunday. */
function localClock(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const day = weekdays.findIndex((each) => each === parts.get('weekday'));
    return day * dayMinutes + Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
  };
}
