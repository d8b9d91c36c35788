import { parseRoute } from '../../../src/routing/route.ts';
import { pathsOf, statesOf, type RolloutHistory, type Rule } from './history.ts';
import { describeWrite, isPlanned, tag } from './writes.ts';

/** What is asked of how a rollout ends, and of all that is written on its way. */
export const endRules: readonly (readonly [string, Rule])[] = [
  ['the webhook is updated once a step, and once at the end', updates],
  ['the webhook leads in the end where it should', leadsElsewhere],
  ['a rollout ends as it should', endings],
  ['what was rolled back does not come back', returns],
  ['an abort is carried out once', aborts],
  ['a workload is restarted once for a revision', repeatedRestarts],
  ['only what may be restarted is', needlessRestarts],
  ['nothing else is written', unplanned],
];

function updates(history: RolloutHistory): string[] {
  const paths = pathsOf(history);
  const expected = history.steps.length + 1;
  if (paths.length === expected) return [];
  return [`${paths.length} updates of the webhook instead of ${expected}: ${paths.join(', ')}`];
}

function leadsElsewhere(history: RolloutHistory): string[] {
  const last = pathsOf(history).at(-1) ?? 'nowhere';
  const isThere = parseRoute(last)?.route.canary === undefined && last.startsWith(`/tags/${tag}/${history.end.place}/`);
  return isThere ? [] : [`the last update of the webhook leads to ${last}, not to ${history.end.place} alone`];
}

function endings(history: RolloutHistory): string[] {
  const { phase, reason } = history.end;
  const last = statesOf(history).at(-1);
  const isRight = last?.phase === phase && last.reason === reason;
  return isRight ? [] : [`it ended as ${last?.phase ?? 'nothing'}/${last?.reason ?? ''}, not as ${phase}/${reason}`];
}

/** Nobody has asked for another try. */
function returns(history: RolloutHistory): string[] {
  const states = statesOf(history);
  const rolledBack = states.findIndex(({ phase }) => phase === 'RolledBack');
  const back = rolledBack === -1 ? undefined : states.slice(rolledBack).find(({ canary }) => canary !== undefined);
  return back === undefined ? [] : [`rolled back, and then ${back.phase}/${back.reason} at ${back.weight} percent`];
}

/** A second time it would be refused: nothing is under way then. */
function aborts(history: RolloutHistory): string[] {
  const { abort } = history.end;
  if (abort === undefined) return [];
  const answers = statesOf(history).flatMap(({ phase, action }) =>
    action?.nonce === abort ? [`${action.verb} ${action.state}, ${phase}`] : [],
  );
  const other = [...new Set(answers)].filter((answer) => answer !== 'abort Done, RolledBack');
  if (answers.length === 0) return ['the abort was never carried out'];
  return other.length === 0 ? [] : [`the abort was carried out otherwise than once: ${other.join('; ')}`];
}

function repeatedRestarts({ writes }: RolloutHistory): string[] {
  const counts = new Map<string, number>();
  for (const { restart } of writes) if (restart !== undefined) counts.set(restart, (counts.get(restart) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(([restart, count]) => `${restart} was restarted ${count} times`);
}

function needlessRestarts({ writes, restartable }: RolloutHistory): string[] {
  return writes
    .filter(({ restart, name }) => restart !== undefined && !restartable.includes(name))
    .map((write) => `restarted without need: ${describeWrite(write)}`);
}

function unplanned({ writes }: RolloutHistory): string[] {
  return writes.filter((write) => !isPlanned(write)).map((write) => `not planned: ${describeWrite(write)}`);
}
