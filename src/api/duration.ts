const unit = { h: 3_600_000, m: 60_000, s: 1000 } as const;

/**
 * Milliseconds of a duration as the schema admits it: hours, minutes and seconds such as `168h` or `1h30m`.
 * The text must have passed the schema; anything else counts as nothing.
 */
export function durationMilliseconds(text: string): number {
  return [...text.matchAll(/(\d+)([hms]?)/g)].reduce(
    (total, [, count, letter]) => total + Number(count) * (letter === '' ? 0 : unit[letter as keyof typeof unit]),
    0,
  );
}
