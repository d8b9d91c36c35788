import { z } from 'zod';
import { count, optionalObject } from '../kubernetes/field-types.ts';

/** How many names a list of a status holds at most. */
export const listedNames = 20;

const names = (text: string) => z.array(z.string().max(520)).max(listedNames).describe(text);

/** What a status says of each workload that it lists. */
export const workloadFields = {
  namespace: z.string().max(63).describe('Its namespace.'),
  kind: z.string().max(63).describe('Its kind.'),
  name: z.string().max(253).describe('Its name.'),
};
const countedWorkload = { ...workloadFields, pods: count('How many of its pods.') };

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
  workloads: z
    .object({
      count: count('How many workloads those pods belong to.'),
      stale: z
        .array(z.object(countedWorkload))
        .max(listedNames)
        .describe('The first 20 workloads with stale pods: to be restarted.'),
      missing: z
        .array(z.object({ ...countedWorkload, reason: z.string().max(64).describe('Why they have none.') }))
        .max(listedNames)
        .describe('The first 20 workloads with pods that would be injected now and are not.'),
    })
    .exactOptional()
    .describe('The workloads of those pods.'),
};

/** Who uses an InjectorConfig or a tag. */
export type UsageStatus = z.output<z.ZodObject<typeof usageStatusFields>>;

/** What a status says of usage. */
export function usageOf(status: UsageStatus | undefined): UsageStatus {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => Object.hasOwn(usageStatusFields, field)));
}
