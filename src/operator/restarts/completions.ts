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
  readonly uid: string;
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
  readonly #known = new Map<string, Memory>();

  /** Records a new version of a workload. @param now in milliseconds since 1970 */
  note(record: WorkloadRecord, now: number): void {
    const key = workloadKey(recordedWorkload(record));
    const { uid = '' } = record.metadata;
    const last = this.#known.get(key);
    const before = last?.uid === uid ? last : undefined;
    const restarts = latestOfEach([...record.restarts, ...(before?.restarts ?? [])]);
    const [latest] = restarts;
    if (latest === undefined) {
      this.#known.delete(key);
      return;
    }
    const isSame = before?.restarts[0]?.at === latest.at;
    const { completeSince: since, completedFor: longest, progressedAt } = isSame ? before : {};
    // The first observation shows no progress. Ignore progress after the restart is complete.
    const isRestarting = since === undefined && longest === undefined;
    const hasProgressed = isSame && isRestarting && record.progress > before.furthest;
    this.#known.set(key, {
      uid,
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
    const key = workloadKey(recordedWorkload(record));
    const known = this.#known.get(key);
    if (known === undefined || known.uid !== record.metadata.uid || known.overtaken.has(tag)) return;
    this.#known.set(key, { ...known, overtaken: new Set([...known.overtaken, tag]) });
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
    const known = this.#known.get(workloadKey(recordedWorkload(record)));
    if (known !== undefined && known.uid === record.metadata.uid) return known;
    const isPlain = record.restarts.length === 0 && record.isComplete;
    return { restarts: record.restarts, overtaken: noTags, ...(isPlain && { completeSince: 0 }) };
  }
}

function stillOvertaken(before: Memory, restarts: readonly WorkloadRestart[]): ReadonlySet<string> {
  if (before.overtaken.size === 0) return noTags;
  const isSame = ({ tag, at }: WorkloadRestart): boolean =>
    before.restarts.some((each) => each.tag === tag && each.at === at);
  return new Set(restarts.filter((each) => before.overtaken.has(each.tag) && isSame(each)).map(({ tag }) => tag));
}
