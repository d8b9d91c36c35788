import { latestOfEach, type WorkloadRestart } from '../../api/revision-tag/restart-annotation.ts';
import type { RestartProgress } from '../../rollout/restart-candidate.ts';
import { workloadKey } from '../../routing/workload-key.ts';
import { recordedWorkload, type WorkloadRecord } from './workload-record.ts';

/** The restarts of a workload that this process has observed, and their progress. */
export interface RestartCompletion extends RestartProgress {
  /** The latest restart for each tag that the annotation names or has named, latest first. */
  readonly restarts: readonly WorkloadRestart[];
  /** The tags for which the target of the workload's pods has changed since the restart. */
  readonly overtaken: ReadonlySet<string>;
}

interface Memory extends RestartCompletion {
  /** The version that was recorded last. */
  readonly record: WorkloadRecord;
  /** The highest `progress` since the latest restart. */
  readonly furthest: number;
}

const noTags: ReadonlySet<string> = new Set();

/**
 * Remembers when workloads with our annotation became complete and last progressed, how long they
 * were complete, and which restarts the annotation named. Thus a workload that is scaled an hour
 * after its restart still counts as restarted, and a workload whose annotation a tool removes is
 * not restarted repeatedly. A new leader has no observations, so it may wait longer, never shorter.
 */
export class Completions {
  /** The workloads that have or had our annotation, by `workloadKey`. */
  readonly #known = new Map<string, Memory>();

  /** Records a new version of a workload. @param now in milliseconds since 1970 */
  note(record: WorkloadRecord, now: number): void {
    const key = workloadKey(recordedWorkload(record));
    const before = this.#memoryOf(record);
    const restarts = latestOfEach([...record.restarts, ...(before?.restarts ?? [])]);
    const [latest] = restarts;
    this.#known.delete(key);
    if (latest === undefined) return;
    const isSame = before?.restarts[0]?.at === latest.at;
    const { completeSince: since, completedFor: longest, progressedAt } = isSame ? before : {};
    // The first observation shows no progress. Ignore progress after the restart is complete.
    const isRestarting = since === undefined && longest === undefined;
    const hasProgressed = isSame && isRestarting && record.progress > before.furthest;
    this.#known.set(key, {
      record,
      restarts,
      furthest: isSame ? Math.max(before.furthest, record.progress) : record.progress,
      progressedAt: hasProgressed ? now : progressedAt,
      completeSince: record.isComplete ? (since ?? now) : undefined,
      overtaken: before === undefined ? noTags : stillOvertaken(before, restarts),
      completedFor: record.isComplete || since === undefined ? longest : Math.max(longest ?? 0, now - since),
    });
  }

  /** Records that the restart no longer counts: the tag's target changed, perhaps back again. */
  overtake(record: WorkloadRecord, tag: string): void {
    const known = this.#memoryOf(record);
    if (known === undefined || known.overtaken.has(tag)) return;
    const key = workloadKey(recordedWorkload(record));
    this.#known.set(key, { ...known, overtaken: new Set([...known.overtaken, tag]) });
  }

  /** Reports whether a workload has or had our annotation. It then counts against the bounds. */
  has(record: WorkloadRecord): boolean {
    return this.#known.has(workloadKey(recordedWorkload(record)));
  }

  /** Returns every workload that was restarted for any tag, as a copy. */
  annotated(): WorkloadRecord[] {
    return [...this.#known.values()].map(({ record }) => record);
  }

  /** Forgets a deleted workload. */
  forget(record: WorkloadRecord): void {
    this.#known.delete(workloadKey(recordedWorkload(record)));
  }

  /**
   * Returns the observations. If the workload never had our annotation, the result only tells
   * whether the workload is complete.
   * @param record the version that was recorded last
   */
  of(record: WorkloadRecord): RestartCompletion {
    const known = this.#memoryOf(record);
    if (known !== undefined) return known;
    const isPlain = record.restarts.length === 0 && record.isComplete;
    return { restarts: record.restarts, overtaken: noTags, ...(isPlain && { completeSince: 0 }) };
  }

  #memoryOf(record: WorkloadRecord): Memory | undefined {
    const known = this.#known.get(workloadKey(recordedWorkload(record)));
    return known?.record.metadata.uid === record.metadata.uid ? known : undefined;
  }
}

function stillOvertaken(before: Memory, restarts: readonly WorkloadRestart[]): ReadonlySet<string> {
  if (before.overtaken.size === 0) return noTags;
  const isSame = ({ tag, at }: WorkloadRestart): boolean =>
    before.restarts.some((each) => each.tag === tag && each.at === at);
  return new Set(restarts.filter((each) => before.overtaken.has(each.tag) && isSame(each)).map(({ tag }) => tag));
}
