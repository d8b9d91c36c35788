import { z } from 'zod';
import type { ConfigurationRef } from '../../routing/route.ts';
import { longestError, longestField, mostChangedFields, type PairReport } from '../../rollout/shadow-report.ts';

/** The maximum size in bytes; each renewal of a Lease sends each annotation to all watchers. */
const maximumBytes = 4096;
/** The maximum of a count, so that sums over replicas stay valid numbers in a status. */
const maximumCount = 1_000_000_000;

const time = z.int().min(0).max(8_640_000_000_000_000);
const failureSchema = z.object({
  injectorConfig: z.string().max(63),
  hash: z.string().max(8),
  count: z.int().min(1).max(maximumCount),
  first: time,
  last: time,
  reason: z.string().max(63),
  message: z.string().max(400),
  pod: z.string().max(320),
});

/** Recent failures of a replica with one configuration. The times are in ms since 1970. */
export type ReportedFailure = Readonly<z.infer<typeof failureSchema>>;

/** Formats failures as an annotation. Drops the oldest, which come first, if it is too long. */
export function writeFailures(failures: readonly ReportedFailure[]): string {
  const shown = [...failures];
  while (Buffer.byteLength(JSON.stringify(shown)) > maximumBytes) shown.shift();
  return JSON.stringify(shown);
}

/** Parses the annotation of failures. Returns no failures if it is invalid. */
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

/** The maximum number of shadow reports. */
const maximumReports = 16;

const count = z.int().min(0).max(maximumCount);
/** The annotation stores an InjectorConfig as `name`, for compatibility with other versions. */
const configurationSchema = z
  .object({ name: z.string().max(63), hash: z.string().max(8) })
  .transform(({ name, hash }) => ({ injectorConfig: name, hash }));
const reportsSchema = z.array(
  z.object({
    tag: z.string().max(63),
    stable: configurationSchema,
    canary: configurationSchema,
    compared: count,
    failed: count,
    differing: count,
    changed: z.array(z.string().max(longestField)).max(mostChangedFields),
    error: z.string().max(longestError).exactOptional(),
  }),
);

/**
 * Formats shadow reports as an annotation. To fit the limit, drops first the changed fields of the
 * oldest reports, then whole reports. @param reports the newest report first
 */
export function writeShadowReports(reports: readonly PairReport[]): string {
  const shown = reports.slice(0, maximumReports);
  while (isTooLong(shown)) {
    const last = shown.findLastIndex(({ changed }) => changed.length > 0);
    const report = shown[last];
    if (report === undefined) shown.pop();
    else shown[last] = { ...report, changed: report.changed.slice(0, -1) };
  }
  return textOf(shown);
}

/** Parses the shadow reports. Returns none if they are invalid, which only delays a rollout. */
export function readShadowReports(text: string | undefined): readonly PairReport[] {
  return reportsSchema.catch([]).parse(parseAnnotation(text, maximumBytes)).slice(0, maximumReports);
}

function isTooLong(reports: readonly PairReport[]): boolean {
  return Buffer.byteLength(textOf(reports)) > maximumBytes;
}

function textOf(reports: readonly PairReport[]): string {
  const named = ({ injectorConfig, hash }: ConfigurationRef) => ({ name: injectorConfig, hash });
  return JSON.stringify(
    reports.map((report) => ({ ...report, stable: named(report.stable), canary: named(report.canary) })),
  );
}
