/** Prepares a run whose time depends on a length, and returns the run. */
export type Prepared = (length: number) => () => unknown;

/** A run that was too slow for its length. */
export interface Slow {
  readonly name: string;
  readonly reason: string;
}

/** The maximum factor per doubled length of linear growth, with a margin for errors. */
const mostPerDoubling = 2.6;
/** The least time at the full length for which growth is measured. Faster runs are ignored. */
const leastMilliseconds = 4;
/** The limit in ms for the short length. If a run exceeds it, the full length is skipped. */
const mostAtFirst = 25;
/** A run is too slow if it grows too much in all attempts. The fastest round of each counts. */
const attempts = 4;
const rounds = 5;

/** Returns the CPU milliseconds of a run in this process. */
export function processorMilliseconds(run: () => unknown): number {
  const before = process.cpuUsage();
  try {
    run();
  } catch {
    // An error is a valid result, and its time counts.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Returns the minimum of several runs, which excludes disturbances. */
export function leastOf(count: number, run: () => unknown): number {
  return Math.min(...Array.from({ length: count }, () => processorMilliseconds(run)));
}

/**
 * Returns why a run takes more than linear time; undefined if it does not. Compares an eighth of
 * the length with the whole. If the ratio is high, measures 1, 2, 4 and 8 eighths several times.
 */
export function superlinear(prepare: Prepared, length: number): string | undefined {
  const short = prepare(length / 8);
  // V8 interprets the first run of an expression, so this run is slower than later runs.
  const first = leastOf(4, short);
  if (first > mostAtFirst && leastOf(3, short) > mostAtFirst) return `${first.toFixed(0)} ms for only ${length / 8}`;
  const long = processorMilliseconds(prepare(length));
  if (long < leastMilliseconds || long < 8 * 1.5 * first) return undefined;
  const lengths = [1, 2, 4, 8].map((factor) => (length / 8) * factor);
  let times: number[] = [];
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    times = leastInTurn(lengths.map((each) => prepare(each)));
    if (!grows(times)) return undefined;
  }
  return `${times.map((time) => time.toFixed(1)).join(', ')} ms at 1, 2, 4, 8 × ${length / 8}`;
}

/** Returns the least time of each run. Alternates the runs, so that CPU speed affects all. */
function leastInTurn(runs: readonly (() => unknown)[]): number[] {
  const measured = Array.from({ length: rounds }, () => runs.map(processorMilliseconds));
  return runs.map((_, index) => Math.min(...measured.map((times) => times[index] ?? Infinity)));
}

/** Reports whether the last two doublings grow too much. One jump may be a garbage collection. */
function grows([, second = 0, third = 0, last = 0]: readonly number[]): boolean {
  if (last < leastMilliseconds) return false;
  const floor = leastMilliseconds / 20;
  return last / Math.max(third, floor) > mostPerDoubling && third / Math.max(second, floor) > mostPerDoubling * 0.85;
}

/**
 * The limit in milliseconds of an admission on the main thread, if the yardstick takes
 * `usualYardstick`. Otherwise the limit is scaled, because machines differ and speed varies.
 */
const mostMilliseconds = 100;
const usualYardstick = 20;
const yardstickText = JSON.stringify(
  Array.from({ length: 30_000 }, (_, index) => ({ [`key-${index}`]: `value ${index}` })),
);

/** Returns the milliseconds that parsing and writing 900 KiB of JSON takes at present. */
function yardstick(): number {
  return leastOf(3, () => JSON.stringify(JSON.parse(yardstickText)));
}

/** Returns the least duration of several runs, and a reason if this duration is too long. */
export function tooLong(run: () => unknown): { readonly milliseconds: number; readonly reason: string | undefined } {
  let milliseconds = processorMilliseconds(run);
  if (milliseconds <= mostMilliseconds / 2) return { milliseconds, reason: undefined };
  milliseconds = Math.min(milliseconds, leastOf(2 * attempts, run));
  const most = mostMilliseconds * Math.max(1, yardstick() / usualYardstick);
  const reason = milliseconds > most ? `${milliseconds.toFixed(0)} ms, the limit is ${most.toFixed(0)} ms` : undefined;
  return { milliseconds, reason };
}
