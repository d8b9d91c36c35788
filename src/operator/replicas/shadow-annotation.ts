import { z } from 'zod';
import type { ConfigurationRef } from '../../routing/route.ts';
import { parseAnnotation } from './failures-annotation.ts';
import { longestError, longestField, mostChangedFields, type PairReport } from '../../rollout/shadow-report.ts';

/** Bytes of the annotation. It goes with every renewal of a Lease to everybody who follows them. */
const maximumBytes = 4096;
/** Rollouts that a replica reports on. */
const mostReports = 16;

/** More admissions than any rollout has: sums of what replicas claim stay numbers that a status can hold. */
const mostAdmissions = 1_000_000_000;
const count = z.int().min(0).max(mostAdmissions);
/** In the annotation an InjectorConfig is called `name`: replicas of other versions write and read it too. */
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
 * Reports as the text of an annotation, within its bound: first the fields that changed are left out, those of the oldest first, then whole reports.
 * @param reports the newest first
 */
export function writeShadowReports(reports: readonly PairReport[]): string {
  const shown = reports.slice(0, mostReports);
  while (isTooLong(shown)) {
    const last = shown.findLastIndex(({ changed }) => changed.length > 0);
    const report = shown[last];
    if (report === undefined) shown.pop();
    else shown[last] = { ...report, changed: report.changed.slice(0, -1) };
  }
  return textOf(shown);
}

/** What an annotation says; nothing when it cannot be read, for a replica that has reported nothing holds a rollout up and never lets it go on. */
export function readShadowReports(text: string | undefined): readonly PairReport[] {
  return reportsSchema.catch([]).parse(parseAnnotation(text, maximumBytes)).slice(0, mostReports);
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
