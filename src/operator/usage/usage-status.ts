import { listedNames, type UsageStatus } from '../../api/injector-config/usage-status.ts';
import { missingReason } from './judge-pod.ts';
import type { SubjectUsage } from './pod-usage.ts';

interface WorkloadPods {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  stale: number;
  missing: number;
  /** Whether all missing pods are older than the webhook. */
  isOld: boolean;
}

/** Returns the usage fields of a status. The order in which pods were added does not matter. */
export function usageStatus(subject: SubjectUsage): UsageStatus {
  const { current, stale, missing } = subject.counts;
  const { namespaces } = subject;
  const workloads = workloadsOf(subject);
  const firstOf = (state: 'stale' | 'missing') =>
    first(
      workloads.filter((each) => each[state] > 0),
      textOf,
    );
  const listed = ({ namespace, kind, name }: WorkloadPods, pods: number) => ({ namespace, kind, name, pods });
  return {
    injected: { current, stale, missing, total: current + stale + missing },
    namespaces: { count: namespaces.length, names: first(namespaces, (name) => name) },
    pods: { count: podCount(subject), names: first(podNames(subject), (name) => name) },
    workloads: {
      count: workloads.length,
      stale: firstOf('stale').map((each) => listed(each, each.stale)),
      missing: firstOf('missing').map((each) => {
        return { ...listed(each, each.missing), reason: each.isOld ? 'OlderThanWebhook' : 'NotCalled' };
      }),
    },
  };
}

function textOf({ namespace, kind, name }: WorkloadPods): string {
  return `${namespace}/${kind}/${name}`;
}

function podCount({ users }: SubjectUsage): number {
  return users.reduce((sum, { pods }) => sum + pods.size, 0);
}

function* podNames({ users }: SubjectUsage): Iterable<string> {
  for (const { traits, pods } of users) for (const name of pods.keys()) yield `${traits.namespace}/${name}`;
}

function workloadsOf({ groups }: SubjectUsage): WorkloadPods[] {
  const workloads = new Map<string, WorkloadPods>();
  for (const [{ traits, pods, judgements }, state] of groups) {
    const { namespace, workload } = traits;
    const found = { namespace, ...workload, stale: 0, missing: 0, isOld: true };
    const known = workloads.get(textOf(found)) ?? found;
    workloads.set(textOf(found), known);
    if (state === 'stale') known.stale += pods.size;
    if (state !== 'missing') continue;
    known.missing += pods.size;
    const selectedBy = judgements.find((judgement) => judgement.state === 'missing')?.selectedBy;
    for (const { createdAt = Infinity } of pods.values()) {
      known.isOld &&= missingReason(createdAt * 1000, selectedBy) === 'OlderThanWebhook';
    }
  }
  return [...workloads.values()];
}

/**
 * Returns the first {@link listedNames} values, ordered by `text`, without sorting all values.
 * Namespaces take turns, so that no author fills the list.
 * @param text begins with the namespace and a slash
 */
function first<T>(values: Iterable<T>, text: (value: T) => string): T[] {
  const namespaces = new Map<string, { readonly value: T; readonly text: string }[]>();
  for (const value of values) {
    const each = { value, text: text(value) };
    const [namespace = ''] = each.text.split('/', 1);
    const found = namespaces.get(namespace) ?? [];
    namespaces.set(namespace, found);
    const last = found.at(-1);
    if (found.length === listedNames && last !== undefined && last.text <= each.text) continue;
    const index = found.findIndex((other) => other.text > each.text);
    found.splice(index === -1 ? found.length : index, 0, each);
    if (found.length > listedNames) found.pop();
  }
  const turns = namespaces.size >= listedNames ? 1 : listedNames;
  const all = [...namespaces.values()].flatMap((found) =>
    found.slice(0, turns).map((each, turn) => ({ ...each, turn })),
  );
  type Turn = (typeof all)[number];
  const byText = (one: Turn, other: Turn): number => (one.text < other.text ? -1 : 1);
  const chosen = all.sort((one, other) => one.turn - other.turn || byText(one, other)).slice(0, listedNames);
  return chosen.sort(byText).map(({ value }) => value);
}

/** Removes usage from statuses, if the operator does not watch pods. */
export const uncounted: UsageSource = { injectorConfig: () => ({}), tag: () => ({}) };

/** Provides a status's usage fields. Before the first count, undefined keeps the old fields. */
export interface UsageSource {
  injectorConfig(name: string): UsageStatus | undefined;
  tag(name: string): UsageStatus | undefined;
}
