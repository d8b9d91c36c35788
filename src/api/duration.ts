const unit = { h: 3_600_000, m: 60_000, s: 1000, '': 0 } as const;

/** Converts a duration that the schema accepted, such as `168h` or `1h30m`, to milliseconds. */
export function durationMilliseconds(text: string): number {
  // If the unit were required, the pattern would take quadratic time on a long run of digits.
  const parts = [...text.matchAll(/(\d+)([hms]?)/g)];
  return parts.reduce((total, [, count, letter]) => total + Number(count) * unit[letter as keyof typeof unit], 0);
}
