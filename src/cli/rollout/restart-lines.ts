import type { RevisionTag, RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import { wantsRestarts } from '../../operator/restarts/restart-source.ts';
import { plural } from '../report/write-report.ts';
import { cutLine, oneLine, wrap } from './wrap.ts';

/** The maximum number of workloads that a drawing shows from each list. */
const shownWorkloads = 3;
/** The maximum number of lines of the message. */
const longestMessage = 2;
const indent = ' '.repeat(9);

/** Formats `restarts Waiting, 12 workloads stale, 0 restarting: …`; undefined if there are none. */
export function restartLine(tag: RevisionTag): string | undefined {
  const restarts = restartsOf(tag);
  return restarts === undefined ? undefined : `restarts ${standingOf(restarts, ', ')}: ${restarts.message}`;
}

/** Draws restarts: counts, message, and the first waiting and skipped workloads. */
export function drawRestarts(tag: RevisionTag, columns: number): string[] {
  const restarts = restartsOf(tag);
  if (restarts === undefined) return [];
  const { message, waiting, untouched } = restarts;
  return [
    `restarts ${standingOf(restarts, ': ')}`,
    ...wrap(message, columns - indent.length, longestMessage).map((line) => `${indent}${line}`),
    ...drawWorkloads('waits', waiting, columns),
    ...drawWorkloads('skips', untouched, columns),
  ];
}

/** Returns the status of restarts, while the spec requests them. */
export function restartsOf(tag: RevisionTag): RestartStatus | undefined {
  return wantsRestarts(tag) ? tag.status?.restarts : undefined;
}

/** Formats the phase and, if the operator has counted workloads, the counts. */
function standingOf({ phase, stale, inProgress, path }: RestartStatus, separator: string): string {
  const isCounted = path !== undefined || stale + inProgress > 0;
  return isCounted ? `${phase}${separator}${plural(stale, 'workload')} stale, ${inProgress} restarting` : phase;
}

function drawWorkloads(word: string, workloads: RestartStatus['waiting'], columns: number): string[] {
  return workloads
    .slice(0, shownWorkloads)
    .map(({ namespace, kind, name, message }) =>
      cutLine(`${indent}${word.padEnd(5)} ${oneLine(`${namespace}/${kind}/${name}: ${message}`)}`, columns),
    );
}
