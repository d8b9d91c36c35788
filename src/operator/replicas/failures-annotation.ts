import { z } from 'zod';

/** The maximum size in bytes; each renewal of a Lease sends the annotation to all watchers. */
const maximumBytes = 4096;

const time = z.int().min(0).max(8_640_000_000_000_000);
const failureSchema = z.object({
  injectorConfig: z.string().max(63),
  hash: z.string().max(8),
  count: z.int().min(1).max(1_000_000_000),
  first: time,
  last: time,
  reason: z.string().max(63),
  message: z.string().max(400),
  pod: z.string().max(320),
});

/** Recent failures of a replica with one configuration. The times are in ms since 1970. */
export type ReportedFailure = Readonly<z.infer<typeof failureSchema>>;

/** Formats the annotation. Drops the oldest failures, which come first, if it is too long. */
export function writeFailures(failures: readonly ReportedFailure[]): string {
  const shown = [...failures];
  while (Buffer.byteLength(JSON.stringify(shown)) > maximumBytes) shown.shift();
  return JSON.stringify(shown);
}

/** Parses the annotation. Returns no failures if it is invalid. */
export function readFailures(text: string | undefined): readonly ReportedFailure[] {
  return z.array(failureSchema).max(16).catch([]).parse(parseAnnotation(text, maximumBytes));
}

/** Parses the JSON of an annotation; undefined when it is absent, too long or invalid. */
export function parseAnnotation(text: string | undefined, maximumLength: number): unknown {
  try {
    return text === undefined || text.length > maximumLength ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Merges the failures of two replicas: adds the counts, keeps the details of the later failure. */
export function addFailures(one: ReportedFailure | undefined, other: ReportedFailure): ReportedFailure {
  if (one === undefined) return other;
  const latest = one.last > other.last ? one : other;
  return { ...latest, count: one.count + other.count, first: Math.min(one.first, other.first) };
}
