import { z } from 'zod';
import { type PairReport, pairReportSchema } from '../api/shadow-report.ts';

/** Bytes of the annotation. It goes with every renewal of a Lease to everybody who follows them. */
const maximumBytes = 4096;
/** Rollouts that a replica reports on. */
const mostReports = 16;

const reportsSchema = z.array(pairReportSchema);

/**
 * Reports as the text of an annotation, within its bound: first the fields that changed are left out, those of the oldest first, then whole reports.
 * @param reports the newest first
 */
export function writeShadowReports(reports: readonly PairReport[]): string {
  const shown = reports.slice(0, mostReports);
  for (let index = shown.length - 1; isTooLong(shown) && index >= 0; index--) shortenFields(shown, index);
  while (isTooLong(shown)) shown.pop();
  return JSON.stringify(shown);
}

/** What an annotation says; nothing when it cannot be read, for a replica that has reported nothing holds a rollout up and never lets it go on. */
export function readShadowReports(text: string | undefined): readonly PairReport[] {
  if (text === undefined || text.length > maximumBytes) return [];
  try {
    return reportsSchema.catch([]).parse(JSON.parse(text)).slice(0, mostReports);
  } catch {
    return [];
  }
}

/** Leaves out as many fields of one report as it takes, from the end. */
function shortenFields(reports: PairReport[], index: number): void {
  for (let report = reports[index]; report !== undefined && report.changed.length > 0; report = reports[index]) {
    reports[index] = { ...report, changed: report.changed.slice(0, -1) };
    if (!isTooLong(reports)) return;
  }
}

function isTooLong(reports: readonly PairReport[]): boolean {
  return Buffer.byteLength(JSON.stringify(reports)) > maximumBytes;
}
