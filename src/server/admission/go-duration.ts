const unitMilliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * A positive duration as Go's time.Duration prints it (`5s`, `1m30s`, `1.5s`), in milliseconds; undefined for anything else.
 * The API server puts the webhook's timeout into the query this way.
 */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > 32 || !/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)([a-zµ]*)/g)) {
    milliseconds += Number(amount) * (unitMilliseconds[unit ?? ''] ?? 0);
  }
  return milliseconds > 0 ? milliseconds : undefined;
}
