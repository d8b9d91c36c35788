import type { Condition } from './kubernetes.ts';

/** What a reconcile found out; {@link setCondition} adds the time. */
export type ObservedCondition = Omit<Condition, 'lastTransitionTime'>;

/** Sets one condition of a list; its time moves only with its status (metav1.Condition), so that no news is no write. */
export function setCondition(conditions: readonly Condition[], next: ObservedCondition, now: Date): Condition[] {
  const index = conditions.findIndex(({ type }) => type === next.type);
  const before = conditions[index];
  const lastTransitionTime =
    before?.status === next.status ? before.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, 'Z');
  const condition: Condition = { ...next, message: bounded(next.message), lastTransitionTime };
  return before === undefined ? [...conditions, condition] : conditions.with(index, condition);
}

/** What the schema holds: with one longer message the API server would refuse the whole status. */
const longestMessage = 32_768;

function bounded(message: string): string {
  if (message.length <= longestMessage) return message;
  // Not the first half of a character.
  return `${message.slice(0, longestMessage - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Sets several conditions; those not mentioned stay as they are. */
export function mergeConditions(
  conditions: readonly Condition[],
  next: readonly ObservedCondition[],
  now: Date,
): Condition[] {
  return next.reduce<Condition[]>((merged, condition) => setCondition(merged, condition, now), [...conditions]);
}

/** Whether the list holds a condition of this type with status True. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
