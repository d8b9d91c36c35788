import { z } from 'zod';

/** Bytes of the annotation: it goes with every renewal of a Lease to everybody who follows them. */
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

/** Pods that one configuration could not inject in the last minutes, as a replica says; times are milliseconds since 1970 by its clock. */
export type ReportedFailure = Readonly<z.infer<typeof failureSchema>>;

/** The text of the annotation; what does not fit is left out, from the oldest on. @param failures the newest last */
export function writeFailures(failures: readonly ReportedFailure[]): string {
  const shown = [...failures];
  while (Buffer.byteLength(JSON.stringify(shown)) > maximumBytes) shown.shift();
  return JSON.stringify(shown);
}

/** What an annotation says; nothing when it cannot be read. */
export function readFailures(text: string | undefined): readonly ReportedFailure[] {
  return z.array(failureSchema).max(16).catch([]).parse(parseAnnotation(text, maximumBytes));
}

/** The JSON of an annotation; undefined where there is none, or it is too long or cannot be read. */
export function parseAnnotation(text: string | undefined, maximumLength: number): unknown {
  try {
    return text === undefined || text.length > maximumLength ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What several replicas say of one configuration: counts in sum, the rest of whoever failed last. */
export function addFailures(one: ReportedFailure | undefined, other: ReportedFailure): ReportedFailure {
  if (one === undefined) return other;
  const latest = one.last > other.last ? one : other;
  return { ...latest, count: one.count + other.count, first: Math.min(one.first, other.first) };
}
