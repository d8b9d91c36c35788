import type { RevisionTag, RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import { wantsRestarts } from '../../operator/restarts/restart-source.ts';
import { plural } from '../report/write-report.ts';
import { cut, oneLine, wrap } from './wrap.ts';

/** How many workloads of a list are named in a picture. */
const named = 3;
/** Lines of the message. */
const longestMessage = 2;
const indent = ' '.repeat(9);

/** `restarts Waiting, 12 workloads stale, 0 restarting: …`; undefined where nothing is restarted. */
export function restartLine(tag: RevisionTag): string | undefined {
  const restarts = restartsOf(tag);
  return restarts === undefined ? undefined : `restarts ${standingOf(restarts, ', ')}: ${restarts.message}`;
}

/** Restarts in a picture: the figures, what is said, and the first workloads that wait or are left to somebody else. */
export function drawRestarts(tag: RevisionTag, columns: number): string[] {
  const restarts = restartsOf(tag);
  if (restarts === undefined) return [];
  const { message, waiting, untouched } = restarts;
  return [
    `restarts ${standingOf(restarts, ': ')}`,
    ...wrap(message, columns - indent.length, longestMessage).map((line) => `${indent}${line}`),
    ...drawWorkloads('waits', waiting, columns),
    ...drawWorkloads('left', untouched, columns),
  ];
}

/** What is said of restarts while the spec asks for them; of a tag that has stopped asking, nothing. */
export function restartsOf(tag: RevisionTag): RestartStatus | undefined {
  return wantsRestarts(tag) ? tag.status?.restarts : undefined;
}

/** The phase, and the figures where anybody has counted. */
function standingOf({ phase, stale, inProgress, path }: RestartStatus, separator: string): string {
  const isCounted = path !== undefined || stale + inProgress > 0;
  return isCounted ? `${phase}${separator}${plural(stale, 'workload')} stale, ${inProgress} restarting` : phase;
}

function drawWorkloads(word: string, workloads: RestartStatus['waiting'], columns: number): string[] {
  return workloads
    .slice(0, named)
    .map(({ namespace, kind, name, message }) =>
      cut(`${indent}${word.padEnd(5)} ${oneLine(`${namespace}/${kind}/${name}: ${message}`)}`, columns),
    );
}
