import type { ScenarioContext } from './scenario-context.ts';

/**
 * Waits for all cases of a scenario, so that no case still runs after another case has failed.
 *
 * @throws the error of the first failed case; prints the errors of all failed cases
 */
export async function sideBySide<Cases extends readonly unknown[] | []>(
  context: ScenarioContext,
  cases: Cases,
): Promise<{ -readonly [Index in keyof Cases]: Awaited<Cases[Index]> }> {
  const ends = await Promise.allSettled(cases);
  const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
  for (const { message } of failed) context.say(message);
  if (failed[0] !== undefined) throw failed[0];
  return Promise.all(cases);
}
