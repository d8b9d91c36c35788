import type { Condition } from './kubernetes.ts';

/** A condition without lastTransitionTime, which {@link setCondition} adds. */
export type ObservedCondition = Omit<Condition, 'lastTransitionTime'>;

/** Sets a condition. Keeps lastTransitionTime while the status is the same, to avoid a write. */
export function setCondition(conditions: readonly Condition[], next: ObservedCondition, now: Date): Condition[] {
  const index = conditions.findIndex(({ type }) => type === next.type);
  const before = conditions[index];
  const lastTransitionTime =
    before?.status === next.status ? before.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, 'Z');
  const condition: Condition = { ...next, message: bounded(next.message), lastTransitionTime };
  return before === undefined ? [...conditions, condition] : conditions.with(index, condition);
}

/** The maximum length in characters. The API server refuses a status with a longer message. */
const longestMessage = 32_768;

function bounded(message: string): string {
  if (message.length <= longestMessage) return message;
  // Do not split a surrogate pair.
  return `${message.slice(0, longestMessage - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Sets several conditions and keeps all others. */
export function mergeConditions(
  conditions: readonly Condition[],
  next: readonly ObservedCondition[],
  now: Date,
): Condition[] {
  return next.reduce<Condition[]>((merged, condition) => setCondition(merged, condition, now), [...conditions]);
}

/** Reports whether the list contains a condition of this type with status True. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
