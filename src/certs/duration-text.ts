const units: readonly (readonly [milliseconds: number, letter: string])[] = [
  [3_600_000, 'h'],
  [60_000, 'm'],
];

/** A duration in milliseconds as people write it in a spec: in hours if it is whole hours, else in minutes or seconds. */
export function durationText(milliseconds: number): string {
  const [length, letter] = units.find(([unit]) => milliseconds !== 0 && milliseconds % unit === 0) ?? [1000, 's'];
  return `${milliseconds / length}${letter}`;
}
