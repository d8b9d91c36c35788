import { z } from 'zod';
import { count, optionalObject } from '../kubernetes/field-types.ts';

/** The maximum number of entries in a list of a status. */
export const listedNames = 20;

const names = (text: string) => z.array(z.string().max(520)).max(listedNames).describe(text);

/** Returns the schema of a list of workloads. @param fields further fields of an entry */
export function workloadList<Fields extends z.ZodRawShape>(fields: Fields, description: string) {
  const workload = z.object({
    namespace: z.string().max(63).describe('The namespace of the workload.'),
    kind: z.string().max(63).describe('The kind of the workload.'),
    name: z.string().max(253).describe('The name of the workload.'),
    ...fields,
  });
  return z.array(workload).max(listedNames).describe(description);
}

const pods = count('The number of affected pods of the workload.');
const reason = z.string().max(64).describe('The reason why the pods have no sidecar.');

/**
 * The status fields about the pods of an InjectorConfig or tag, without terminated pods. The
 * operator writes them at most every 30 s.
 */
export const usageStatusFields = {
  injected: optionalObject('The number of pods by the state of their sidecar. Updated at most every 30 seconds.', {
    current: count('Pods whose sidecar comes from the configuration that a new pod would get.'),
    stale: count('Pods whose sidecar comes from another configuration, or that would not be injected now.'),
    missing: count('Pods that have no sidecar, but would be injected now.'),
    total: count(
      'The sum of current, stale and missing. Excludes pods that another InjectorConfig or injector injected.',
    ),
  }),
  namespaces: optionalObject(
    'The namespaces whose labels select this object. Excludes namespaces that the injector of Istio selects, too.',
    {
      count: count('The number of namespaces.'),
      names: names('The names of the first 20 namespaces.'),
    },
  ),
  pods: optionalObject(
    'The pods that were injected through this object, or would be injected now. Excludes pods that the injector of Istio selects, too.',
    {
      count: count('The number of these pods. Includes pods that injected.total counts elsewhere or not yet.'),
      names: names('The first 20 pods, as namespace/name.'),
    },
  ),
  workloads: optionalObject('The workloads of these pods.', {
    count: count('The number of workloads.'),
    stale: workloadList({ pods }, 'The first 20 workloads with stale pods. Restart them to update their sidecars.'),
    missing: workloadList({ pods, reason }, 'The first 20 workloads with pods that lack a sidecar.'),
  }),
};

export type UsageStatus = z.output<z.ZodObject<typeof usageStatusFields>>;

export function usageOf(status: UsageStatus | undefined): UsageStatus {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => Object.hasOwn(usageStatusFields, field)));
}
