import type { KubernetesObject, LabelSelector, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import { apiServerMatcher, type LabelMatcher } from '../../selection/label-selector.ts';
import type { CoveringBudget } from '../../rollout/restart-candidate.ts';
import type { WorkloadRecord } from './workload-record.ts';

/** The parts of a PodDisruptionBudget (policy/v1) that are kept in memory, bounded in size. */
export interface BudgetRecord extends KubernetesObject {
  /** Only name, namespace, uid and resourceVersion. */
  metadata: ObjectMeta;
  /** Reports whether the budget covers pods with these labels. */
  readonly covers: LabelMatcher;
  /** The number of pods that may be disrupted; 0 while the status describes an older generation. */
  readonly disruptionsAllowed: number;
}

/** The limits of a selector. A larger selector counts as covering every pod of its namespace. */
export const selectorLimit = { requirements: 64, characters: 4096 } as const;

const all: LabelMatcher = () => true;
const nothing: LabelMatcher = () => false;

/** Returns the record of a PodDisruptionBudget. */
export function recordOfBudget({ apiVersion, kind, metadata, spec, status }: KubernetesObject): BudgetRecord {
  const { name = '', namespace = '', uid = '', resourceVersion = '', generation = 0 } = metadata;
  const { selector } = (spec ?? {}) as { selector?: LabelSelector | null };
  const { disruptionsAllowed = 0, observedGeneration = 0 } = (status ?? {}) as Record<string, number | undefined>;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion },
    // An absent selector covers no pod, and an empty selector covers every pod.
    covers: selector === undefined || selector === null ? nothing : boundedMatcher(selector),
    disruptionsAllowed: observedGeneration < generation ? 0 : disruptionsAllowed,
  };
}

/**
 * Returns the budgets that cover a workload's pods, according to the labels of its pod template.
 * Ignores the labels that admission adds to pods.
 */
export function coveringBudgets(
  { metadata: { namespace }, labels }: Pick<WorkloadRecord, 'metadata' | 'labels'>,
  budgets: Iterable<BudgetRecord>,
): CoveringBudget[] {
  const covering: CoveringBudget[] = [];
  for (const { metadata, covers, disruptionsAllowed } of budgets) {
    if (metadata.namespace !== namespace || !(labels === undefined || covers(labels))) continue;
    covering.push({ name: metadata.name ?? '', disruptionsAllowed });
  }
  return covering;
}

function boundedMatcher(selector: LabelSelector): LabelMatcher {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const requirements = Object.keys(matchLabels).length + matchExpressions.length;
  const isLarge =
    requirements > selectorLimit.requirements || JSON.stringify(selector).length > selectorLimit.characters;
  return isLarge ? all : apiServerMatcher(selector);
}
