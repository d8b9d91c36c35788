/** Something whose time depends on the length of a text or list: prepared for a length, then run. */
export type Prepared = (length: number) => () => unknown;

/** What was too slow for its length. */
export interface Slow {
  readonly name: string;
  readonly reason: string;
}

/** Growth by more than this when the length doubles is more than linear, measuring errors included. */
const mostPerDoubling = 2.6;
/** What takes less at the greatest length is not worth a look, however it grows. */
const leastMilliseconds = 4;
/** A first short text tells what must not be tried with a long one. */
const mostAtFirst = 25;
/** Something is slow only if it grows too much in each of so many series; in a series each length is measured so often, and the least time counts. */
const attempts = 4;
const rounds = 5;

/** Milliseconds of processor time of this process: other processes do not count. */
export function processorMilliseconds(run: () => unknown): number {
  const before = process.cpuUsage();
  try {
    run();
  } catch {
    // An error is an answer; how long it takes counts the same.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The least of several runs: what came between does not count. */
export function leastOf(count: number, run: () => unknown): number {
  return Math.min(...Array.from({ length: count }, () => processorMilliseconds(run)));
}

/**
 * Why something takes more than linear time up to a length; `undefined` when it does not. One run at an eighth of the length and one at the whole
 * most often tell; only what those make look suspicious is measured at 1, 2, 4 and 8 times, again and again before it is called slow.
 */
export function superlinear(prepare: Prepared, length: number): string | undefined {
  const short = prepare(length / 8);
  // An expression's first run is interpreted, and slower than a longer text's second.
  const first = leastOf(4, short);
  if (first > mostAtFirst && leastOf(3, short) > mostAtFirst) return `${first.toFixed(0)} ms for ${length / 8} already`;
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

/** The least time of each: run in turn, so that a processor that becomes slower or faster meanwhile does so for all of them. */
function leastInTurn(runs: readonly (() => unknown)[]): number[] {
  const measured = Array.from({ length: rounds }, () => runs.map(processorMilliseconds));
  return runs.map((_, index) => Math.min(...measured.map((times) => times[index] ?? Infinity)));
}

/** Whether the last two doublings both grow too much: a single jump is a table or a collection of garbage that came in. */
function grows([, second = 0, third = 0, last = 0]: readonly number[]): boolean {
  if (last < leastMilliseconds) return false;
  const floor = leastMilliseconds / 20;
  return last / Math.max(third, floor) > mostPerDoubling && third / Math.max(second, floor) > mostPerDoubling * 0.85;
}

/**
 * No admission may keep the main thread longer than 100 ms, on a machine that takes `usualYardstick` for the yardstick. Machines differ, and so does one
 * machine from minute to minute; so the yardstick is measured beside whatever looks too long.
 */
const mostMilliseconds = 100;
const usualYardstick = 20;
const yardstickText = JSON.stringify(
  Array.from({ length: 30_000 }, (_, index) => ({ [`key-${index}`]: `value ${index}` })),
);

/** Milliseconds that this machine takes, just now, for a fixed piece of work: reading and writing 900 KiB of JSON. */
function yardstick(): number {
  return leastOf(3, () => JSON.stringify(JSON.parse(yardstickText)));
}

/** How long something takes, and why that is too long. A busy machine slows a run down: the least of several counts. */
export function tooLong(run: () => unknown): { readonly milliseconds: number; readonly reason: string | undefined } {
  let milliseconds = processorMilliseconds(run);
  if (milliseconds <= mostMilliseconds / 2) return { milliseconds, reason: undefined };
  milliseconds = Math.min(milliseconds, leastOf(2 * attempts, run));
  const most = mostMilliseconds * Math.max(1, yardstick() / usualYardstick);
  const reason = milliseconds > most ? `${milliseconds.toFixed(0)} ms, of ${most.toFixed(0)}` : undefined;
  return { milliseconds, reason };
}
