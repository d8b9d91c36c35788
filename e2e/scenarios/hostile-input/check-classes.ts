import { deepEqual } from 'node:assert/strict';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { AttackReport, ClassTally } from './attack.ts';
import { hostileClasses } from './classes.ts';

/** Checks that every request of every class ended as the class says, and that they were as many, and as different, as they should be. */
export async function checkClasses(
  context: ScenarioContext,
  report: AttackReport,
  requestsPerClass: number,
): Promise<{ sent: number; distinct: number }> {
  const tallies = new Map(report.classes.map((tally) => [tally.name, tally]));
  const groups = new Map<string, ClassTally[]>();
  for (const { name, expect } of hostileClasses) {
    const tally = tallies.get(name);
    if (tally === undefined) throw new Error(`class ${name} was not sent`);
    const outcome = [expect].flat().join(' or ');
    groups.set(outcome, [...(groups.get(outcome) ?? []), tally]);
  }
  const problems: string[] = [];
  for (const [outcome, group] of groups) {
    const wrong = group.filter(({ unexpected }) => unexpected > 0);
    const statement = `${outcome}: ${group.map(({ name }) => name).join(', ')}`;
    if (wrong.length === 0) await context.check(statement, () => true, { timeout: 0 });
    for (const { name, sent, unexpected, outcomes, example = '' } of wrong)
      problems.push(
        `${name}: ${unexpected} of ${sent} did not end in ${outcome} but ${JSON.stringify(outcomes)}; ${example}`,
      );
  }
  if (problems.length > 0) throw new Error(`\n${problems.join('\n')}`);
  const sent = report.classes.reduce((sum, tally) => sum + tally.sent, 0);
  const distinct = report.classes.reduce((sum, tally) => sum + tally.distinct, 0);
  await context.check(
    `${report.classes.length} classes, ${requestsPerClass} requests each, at least 90 % of all requests distinct`,
    () => {
      deepEqual(
        report.classes.filter((tally) => tally.sent !== requestsPerClass).map(({ name }) => name),
        [],
      );
      if (report.classes.length < 40) throw new Error(`only ${report.classes.length} classes`);
      if (distinct < 0.9 * sent) throw new Error(`${distinct} of ${sent} requests are distinct`);
      return true;
    },
    { timeout: 0 },
  );
  const least = report.classes.toSorted((left, right) => left.distinct / left.sent - right.distinct / right.sent)[0];
  if (least !== undefined) context.say(`the least distinct class is ${least.name}: ${least.distinct} of ${least.sent}`);
  return { sent, distinct };
}
