import type { KubernetesObject, LabelSelector, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import { apiServerMatcher, type LabelMatcher } from '../../selection/label-selector.ts';
import type { CoveringBudget } from '../../rollout/restart-candidate.ts';
import type { WorkloadRecord } from './workload-record.ts';

/** What is kept of each PodDisruptionBudget (policy/v1) while workloads are followed. Nothing whose size its author chooses. */
export interface BudgetRecord extends KubernetesObject {
  /** Name, namespace, uid and resourceVersion alone. */
  metadata: ObjectMeta;
  /** Whether it covers pods with these labels. */
  readonly covers: LabelMatcher;
  /** How many pods may be disrupted now; 0 while its controller has not seen its present generation. */
  readonly disruptionsAllowed: number;
}

/** A selector with more requirements, or more text in it, counts as one that covers every pod of its namespace. */
export const selectorLimit = { requirements: 64, characters: 4096 } as const;

const all: LabelMatcher = () => true;
const nothing: LabelMatcher = () => false;

/** The bounded part of a PodDisruptionBudget as the API server sends it. */
export function recordOfBudget({ apiVersion, kind, metadata, spec, status }: KubernetesObject): BudgetRecord {
  const { name = '', namespace = '', uid = '', resourceVersion = '', generation = 0 } = metadata;
  const { selector } = (spec ?? {}) as { selector?: LabelSelector | null };
  const { disruptionsAllowed = 0, observedGeneration = 0 } = (status ?? {}) as Record<string, number | undefined>;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion },
    // Absent it covers nothing, empty everything.
    covers: selector === undefined || selector === null ? nothing : boundedMatcher(selector),
    disruptionsAllowed: observedGeneration < generation ? 0 : disruptionsAllowed,
  };
}

/**
 * The budgets that cover the pods of a workload, as far as the labels of its pod template tell: a selector for labels that are put on pods as they are
 * made does not find it.
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
