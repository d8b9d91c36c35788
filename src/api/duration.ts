const unit = { h: 3_600_000, m: 60_000, s: 1000, '': 0 } as const;

/** Milliseconds of a duration that has passed the schema, such as `168h` or `1h30m`. */
export function durationMilliseconds(text: string): number {
  // With a unit that must follow, the search would read a long row of digits again from each of them.
  const parts = [...text.matchAll(/(\d+)([hms]?)/g)];
  return parts.reduce((total, [, count, letter]) => total + Number(count) * unit[letter as keyof typeof unit], 0);
}
