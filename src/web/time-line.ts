const hour = 3_600_000;

/** Where the marks of a time line stand, in milliseconds from now. */
export const ticks: readonly { readonly label: string; readonly ahead: number }[] = [
  { label: 'now', ahead: 0 },
  { label: '1 hour', ahead: hour },
  { label: '1 day', ahead: 24 * hour },
  { label: '1 week', ahead: 7 * 24 * hour },
  { label: '1 month', ahead: 30 * 24 * hour },
  { label: '1 year', ahead: 365 * 24 * hour },
  { label: '10 years', ahead: 3653 * 24 * hour },
];

/**
 * Returns the place of a time, from 0 (now, or past) to 1 (`longest`). The scale is logarithmic,
 * because a serving certificate lives for days, and its authority for a year.
 * @param ahead milliseconds from now
 */
export function placeOf(ahead: number, longest: number): number {
  const scaled = (milliseconds: number): number => Math.log1p(Math.max(0, milliseconds) / (hour / 4));
  return Math.min(1, scaled(ahead) / scaled(Math.max(longest, hour)));
}

const units: readonly (readonly [name: string, milliseconds: number])[] = [
  ['d', 24 * hour],
  ['h', hour],
  ['min', hour / 60],
  ['s', 1000],
];

/** Formats a duration with one unit: `6 d`, `47 h`, `90 s`. */
export function inOneUnit(milliseconds: number): string {
  const whole = Math.max(0, milliseconds);
  const [name, size] = units.find(([, each]) => whole >= 2 * each) ?? ['s', 1000];
  return `${Math.floor(whole / size)} ${name}`;
}

/** Formats a time from now: `in 6 d`, or `3 h ago`. */
export function fromNow(time: number, now: number): string {
  return time >= now ? `in ${inOneUnit(time - now)}` : `${inOneUnit(now - time)} ago`;
}
