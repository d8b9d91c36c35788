import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import {
  describeJudgement,
  judgePod,
  missingReason,
  type JudgementSources,
  type PodCounts,
  type PodJudgement,
  type PodState,
} from '../../operator/usage/judge-pod.ts';
import { type PodTraits, type RelevantNames, traitsOf } from '../../operator/usage/pod-traits.ts';
import type { Labels } from '../../selection/label-selector.ts';

/** The pods of one workload and one InjectorConfig. */
export interface WorkloadUsage extends Readonly<PodCounts> {
  readonly namespace: string;
  /** `Deployment/web`. */
  readonly workload: string;
  /** The InjectorConfig that new pods would get, else the InjectorConfig that injected the pods. */
  readonly injectorConfig: string;
  readonly tag?: string;
  /** Why pods are not current, and the number of pods for each reason. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** The pods of the cluster compared with new pods. */
export interface UsageReport {
  /** The pods by the InjectorConfig that injected them, or should have injected them. */
  readonly injectorConfigs: ReadonlyMap<string, Readonly<PodCounts>>;
  /** The pods by the tag that they follow. */
  readonly tags: ReadonlyMap<string, Readonly<PodCounts>>;
  readonly namespaces: ReadonlyMap<string, Readonly<PodCounts>>;
  /** The workloads, sorted by namespace and name. */
  readonly workloads: readonly WorkloadUsage[];
}

type WorkloadTally = Omit<WorkloadUsage, keyof PodCounts | 'reasons'> & PodCounts & { reasons: Record<string, number> };

export const noCounts: Readonly<PodCounts> = { current: 0, stale: 0, missing: 0 };

/** Counts pods one by one, so that pages are not kept. Classifies pods as the operator does. */
export class UsageTally {
  readonly #sources: JudgementSources;
  readonly #names: Pick<RelevantNames, 'annotations' | 'statuses'>;
  readonly #injectorConfigs = new Map<string, PodCounts>();
  readonly #tags = new Map<string, PodCounts>();
  readonly #namespaces = new Map<string, PodCounts>();
  readonly #workloads = new Map<string, WorkloadTally>();

  /** @param names the annotations that affect the result */
  constructor(sources: JudgementSources, names: Pick<RelevantNames, 'annotations' | 'statuses'>) {
    this.#sources = sources;
    this.#names = names;
  }

  /** Adds a pod. @returns its judgements; undefined for a pod that has ended */
  add(pod: KubernetesObject, namespaceLabels: Labels): readonly PodJudgement[] | undefined {
    const labels = new Set(Object.keys(pod.metadata.labels ?? {}));
    const traits = traitsOf(pod, { labels, ...this.#names });
    if (traits === undefined) return undefined;
    const createdAt = Date.parse(pod.metadata.creationTimestamp ?? '');
    const judgements = judgePod(traits, namespaceLabels, this.#sources);
    for (const judgement of judgements) {
      const { state } = judgement;
      if (state !== 'none' && state !== 'undecided') this.#count(traits, createdAt, judgement, state);
    }
    return judgements;
  }

  report(): UsageReport {
    return {
      injectorConfigs: this.#injectorConfigs,
      tags: this.#tags,
      namespaces: this.#namespaces,
      workloads: [...this.#workloads].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, tally]) => tally),
    };
  }

  #count(pod: PodTraits, createdAt: number, judgement: PodJudgement, state: PodState): void {
    const { injectorConfig, selectedBy } = judgement;
    tallyOf(this.#injectorConfigs, injectorConfig)[state] += 1;
    if (selectedBy?.tag !== undefined) tallyOf(this.#tags, selectedBy.tag)[state] += 1;
    tallyOf(this.#namespaces, pod.namespace)[state] += 1;
    const workload = this.#workloadOf(pod, selectedBy?.injectorConfig ?? injectorConfig, selectedBy?.tag);
    workload[state] += 1;
    if (state === 'current') return;
    const why = state === 'missing' ? { ...judgement, reason: missingReason(createdAt, selectedBy) } : judgement;
    const reason = describeJudgement(why);
    workload.reasons[reason] = (workload.reasons[reason] ?? 0) + 1;
  }

  #workloadOf({ namespace, workload }: PodTraits, injectorConfig: string, tag: string | undefined): WorkloadTally {
    const named = `${workload.kind}/${workload.name}`;
    const key = [namespace, named, injectorConfig, tag ?? ''].join(' ');
    const known = this.#workloads.get(key);
    if (known !== undefined) return known;
    const identity = { namespace, workload: named, injectorConfig, ...(tag === undefined ? {} : { tag }) };
    const added = { ...identity, ...noCounts, reasons: {} };
    this.#workloads.set(key, added);
    return added;
  }
}

function tallyOf(tallies: Map<string, PodCounts>, key: string): PodCounts {
  const known = tallies.get(key) ?? { ...noCounts };
  tallies.set(key, known);
  return known;
}
