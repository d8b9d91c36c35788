import type { StepMark } from '../../api/dashboard-reports.ts';
import type { RevisionTag, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { CanaryStep } from '../../api/revision-tag/rollout-strategy.ts';
import { cutLine, wrap } from '../report/write-report.ts';
import type { Screen } from '../terminal.ts';
import { formatStanding, standingOf } from '../usage/tag-report.ts';
import { drawRestarts, newsOf, phaseOf, podsOf, shareOf, stepMarks } from './rollout-lines.ts';
import { afterRollback, rolloutUnderWay } from './rollout-standing.ts';

/** The length of the bar that shows the share, in characters. */
const barLength = 30;
/** The maximum number of lines of a message. */
const longestParagraph = 4;

/** The number of steps that have priority over names of workloads. */
const steadySteps = 3;

/**
 * Draws a rollout: message, share, pods, restarts, and the steps with a mark at the current step.
 * Lines are not wider than the screen, and fewer than its rows, so that the drawing can be
 * overwritten.
 */
export function drawRollout(tag: RevisionTag, { columns, rows }: Screen, now: Date): string[] {
  const rollout = tag.status?.rollout;
  const steps = stepLines(tag, now);
  const words = [
    heading(tag, now),
    '',
    ...wrap(newsOf(tag), columns, longestParagraph),
    ...wrap(afterRollback(tag) ?? '', columns, longestParagraph).filter(Boolean),
    '',
    ...(rollout === undefined ? [] : figures(rollout, columns)),
  ];
  const room = rows - 2 - words.length - Math.min(steps.length, steadySteps);
  const head = [...words, ...drawRestarts(tag, columns, room)];
  const current = rolloutUnderWay(tag)?.step ?? 0;
  const lines = [...head, ...window(steps, current, rows - 1 - head.length)];
  return lines.map((line) => cutLine(line, columns)).slice(0, Math.max(1, rows - 1));
}

function heading(tag: RevisionTag, now: Date): string {
  const { stable, canary, startedAt } = tag.status?.rollout ?? {};
  const way =
    canary === undefined ? formatStanding(standingOf(tag)) : `${stable?.revision ?? '?'} -> ${canary.revision}`;
  const since =
    canary === undefined || startedAt === undefined
      ? ''
      : `, for ${shortDuration(now.getTime() - Date.parse(startedAt))}`;
  return `RevisionTag ${tag.metadata.name}: revision ${way}: ${phaseOf(tag)}${since}`;
}

function figures(rollout: RolloutState, columns: number): string[] {
  const { stable, canary, rolledBackFrom, pods, injectionErrors, shadowReport } = rollout;
  const lines = canary === undefined ? [] : [`share    ${bar(rollout)}  ${shareOf(rollout)}`];
  lines.push(`stable   ${podsOf(pods.stable)} (${stable.revision})`);
  const other = canary ?? (rollout.phase === 'RolledBack' ? rolledBackFrom : undefined);
  if (other !== undefined)
    lines.push(`canary   ${podsOf(pods.canary)} (${other.revision}, configuration ${other.hash})`);
  if (injectionErrors > 0) lines.push(`errors   ${injectionErrors} injections of the canary failed`);
  if (shadowReport !== undefined) lines.push(...shadow(shadowReport, columns));
  return [...lines, ''];
}

function shadow(report: NonNullable<RolloutState['shadowReport']>, columns: number): string[] {
  const { compared, failed, differing, changed, error } = report;
  const below = (text: string): string[] => wrap(text, columns - 9, 2).map((line) => `         ${line}`);
  return [
    `shadow   ${compared} pods compared: ${failed} failed, ${differing} differ`,
    ...(changed.length > 0 ? below(`differing: ${changed.join(', ')}`) : []),
    ...(error === undefined ? [] : below(`error: ${error}`)),
  ];
}

function bar({ weight }: RolloutState): string {
  const filled = Math.round((weight * barLength) / 100);
  return `[${'#'.repeat(filled)}${'.'.repeat(barLength - filled)}]`;
}

const marks: Readonly<Record<StepMark, string>> = {
  done: '✓',
  current: '>',
  rolledBack: '✗',
  skipped: '-',
  coming: ' ',
};

function stepLines(tag: RevisionTag, now: Date): string[] {
  const states = stepMarks(tag);
  return (tag.spec.strategy?.canary?.steps ?? []).map((step, index) => {
    const state = states[index] ?? 'coming';
    const weight = step.shadow ? 'shadow' : `${step.weight} %`;
    const current = state === 'current' ? rolloutUnderWay(tag) : undefined;
    const pause = state === 'skipped' ? '  skipped' : pauseOf(step, current, now);
    return `${marks[state]} ${String(index + 1).padStart(2)}  ${weight.padStart(6)}${pause}`.trimEnd();
  });
}

/** Formats the pause of a step, and how long the rollout has been paused. */
function pauseOf({ pause }: CanaryStep, current: RolloutState | undefined, now: Date): string {
  const isByUser = current?.resumed === false;
  if (pause === undefined && !isByUser) return '';
  const text = isByUser || pause === 'UntilResumed' ? '  pause until resumed' : `  pause ${pause}`;
  if (current?.pausedAt === undefined) return text;
  if (current.resumed === true) return `${text}, resumed`;
  return `${text}, paused for ${shortDuration(now.getTime() - Date.parse(current.pausedAt))}`;
}

/** Returns at most `room` lines around the current line. */
function window(lines: readonly string[], current: number, room: number): readonly string[] {
  const size = Math.max(1, room);
  const start = Math.max(0, Math.min(current - Math.floor(size / 2), lines.length - size));
  return lines.slice(start, start + size);
}

/** Formats `1h02m`, `3m05s`, `12s`. */
export function shortDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)}h${two(Math.floor(seconds / 60) % 60)}m`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  return `${seconds}s`;
}
