import { z } from 'zod';
import type { ConfigurationRef } from '../../routing/route.ts';
import { parseAnnotation } from './failures-annotation.ts';
import { longestError, longestField, mostChangedFields, type PairReport } from '../../rollout/shadow-report.ts';

/** The maximum size in bytes. Each renewal of a Lease sends the annotation to all watchers. */
const maximumBytes = 4096;
const maximumReports = 16;

/** The maximum count of admissions, so that sums over replicas stay valid numbers in a status. */
const maximumAdmissions = 1_000_000_000;
const count = z.int().min(0).max(maximumAdmissions);
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
 * Formats reports as an annotation. To fit the limit, drops first the changed fields of the oldest
 * reports, then whole reports. @param reports the newest report first
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

/** Parses an annotation. Returns no reports if it is invalid, which only delays a rollout. */
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
