import { found } from '../../harness/wait-for.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** The server logs at most 20 refusals a second, and shortens what it quotes. */
const longestLogLine = 4000;

/**
 * Checks what an attack has left behind: the process, its log, its metrics and its connections.
 *
 * @param pid of the process before the attack
 * @param reopened connections of healthy clients that the server has closed
 * @returns how many connections it has closed under pressure
 */
export async function checkAftermath(
  context: ScenarioContext,
  operator: OperatorProcess,
  pid: number,
  reopened: number,
): Promise<number> {
  await context.check('the operator is the process that it was, and is ready', async () => {
    await operator.waitUntilReady();
    return operator.process.pid === pid;
  });
  const lines = operator.process.log().split('\n');
  const odd = lines.filter((line) => /\p{Cc}|\p{Cf}|[\u2028\u2029]/u.test(line));
  await context.checkNow(`its log carries no control characters (${lines.length} lines)`, () =>
    found(
      odd
        .slice(0, 3)
        .map((line) => JSON.stringify(line).slice(0, 500))
        .join('\n'),
      '',
    ),
  );
  const defects = lines.filter((line) => /^\S+ error /.test(line));
  await context.checkNow('its log tells of no defect', () => found(defects.slice(0, 3).join('\n').slice(0, 1000), ''));
  const long = lines.filter((line) => line.length > longestLogLine);
  await context.checkNow(`no line of its log is longer than ${longestLogLine} characters`, () =>
    found(
      long
        .slice(0, 2)
        .map((line) => `${line.length}: ${line.slice(0, 300)}`)
        .join('\n'),
      '',
    ),
  );
  const metrics = (await operator.metrics()).split('\n');
  await context.checkNow(
    'nothing of what was sent names a metric: fewer than 1000 lines of them',
    () => metrics.length < 1000,
  );
  const dropped = Number(
    metrics.find((line) => line.startsWith('injector_connections_dropped_total{reason="pressure"}'))?.split(' ')[1] ??
      0,
  );
  await context.checkNow('under pressure it closed connections, but none on which a review had been answered', () => {
    if (dropped === 0) throw new Error('none was closed: there was no pressure');
    return found(`${reopened} closed`, '0 closed');
  });
  return dropped;
}
