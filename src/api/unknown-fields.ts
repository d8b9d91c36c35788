/**
 * Paths of the fields that a schema dropped: there in `source`, gone from `parsed`.
 * @param at the path of `source` itself, e.g. `spec`
 */
export function unknownFields(source: unknown, parsed: unknown, at: string): string[] {
  if (Array.isArray(source) && Array.isArray(parsed)) {
    return source.flatMap((item: unknown, index) => unknownFields(item, parsed[index], `${at}[${index}]`));
  }
  if (!isRecord(source) || !isRecord(parsed)) return [];
  return Object.entries(source).flatMap(([key, value]) =>
    Object.hasOwn(parsed, key) ? unknownFields(value, parsed[key], `${at}.${key}`) : [`${at}.${key}`],
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
