import { z } from 'zod';
import { count, optionalObject } from '../kubernetes/field-types.ts';

/** How many names a list of a status holds at most. */
export const listedNames = 20;

const names = (text: string) => z.array(z.string().max(520)).max(listedNames).describe(text);

/** Workloads that a status lists, with what it says of each beside its name. */
export function workloadList<Fields extends z.ZodRawShape>(fields: Fields, description: string) {
  const workload = z.object({
    namespace: z.string().max(63).describe('Its namespace.'),
    kind: z.string().max(63).describe('Its kind.'),
    name: z.string().max(253).describe('Its name.'),
    ...fields,
  });
  return z.array(workload).max(listedNames).describe(description);
}

const pods = count('How many of its pods.');
const reason = z.string().max(64).describe('Why they have none.');

/**
 * The parts of a status that say who uses an InjectorConfig or a tag, and whether what runs is what would be injected now. Counts are of pods that
 * have not ended; the operator writes them at most every 30 s.
 */
export const usageStatusFields = {
  injected: optionalObject('Pods, by whether they have what they would get now; at most every 30 s.', {
    current: count('Pods that are injected as they would be now.'),
    stale: count('Pods that are injected otherwise than they would be now, or would not be injected any more.'),
    missing: count('Pods that would be injected now and are not.'),
    total: count('All of them.'),
  }),
  namespaces: optionalObject('Namespaces whose labels lead here.', {
    count: count('How many there are.'),
    names: names('The first 20 of them.'),
  }),
  pods: optionalObject('Pods that were injected from here, or would be now.', {
    count: count('How many there are.'),
    names: names('The first 20 of them, as namespace/name.'),
  }),
  workloads: optionalObject('The workloads of those pods.', {
    count: count('How many workloads those pods belong to.'),
    stale: workloadList({ pods }, 'The first 20 workloads with stale pods: to be restarted.'),
    missing: workloadList({ pods, reason }, 'The first 20 workloads with pods that would be injected now and are not.'),
  }),
};

/** Who uses an InjectorConfig or a tag. */
export type UsageStatus = z.output<z.ZodObject<typeof usageStatusFields>>;

/** What a status says of usage. */
export function usageOf(status: UsageStatus | undefined): UsageStatus {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => Object.hasOwn(usageStatusFields, field)));
}
