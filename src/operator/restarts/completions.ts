import { latestOfEach, type WorkloadRestart } from '../../api/revision-tag/restart-annotation.ts';
import type { RestartProgress } from '../../rollout/restart-candidate.ts';
import { workloadKey } from '../../routing/workload-key.ts';
import { workloadOf, type WorkloadRecord } from './workload-record.ts';

/** What is known of the restarts of a workload. */
export interface Completion extends RestartProgress {
  /** The restarts that its annotation says or has said, the latest of each tag first. */
  readonly restarts: readonly WorkloadRestart[];
  /** The tags whose restart is overtaken: since then its pods would have got something else. */
  readonly overtaken: ReadonlySet<string>;
}

interface Memory extends Completion {
  readonly uid: string;
  /** How far it has come since the latest restart. */
  readonly furthest: number;
}

const noTags: ReadonlySet<string> = new Set();

/**
 * What this process has seen of workloads that carry our annotation: since when they are complete, for how long they were, when they last came any
 * further, and what the annotation said. A new leader starts with none of it: it counts anew, later than necessary and never sooner. Without it a workload that is scaled an hour
 * after its restart would look as if that had never ended, and one whose annotation somebody takes away would be restarted again and again.
 */
export class Completions {
  readonly #known = new Map<string, Memory>();

  /** A workload as it is now; to be told of each change. Milliseconds since 1970. */
  note(record: WorkloadRecord, now: number): void {
    const key = workloadKey(workloadOf(record));
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
    // The first observation has no timestamp; assume the latest possible. What comes once it was complete is somebody else's.
    const isUnderWay = since === undefined && longest === undefined;
    const hasProgressed = isSame && isUnderWay && record.progress > before.furthest;
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

  /** The pods of a workload would get something else now than what it was restarted for: that restart does not count once the first target is back. */
  overtake(record: WorkloadRecord, tag: string): void {
    const key = workloadKey(workloadOf(record));
    const known = this.#known.get(key);
    if (known === undefined || known.uid !== record.metadata.uid || known.overtaken.has(tag)) return;
    this.#known.set(key, { ...known, overtaken: new Set([...known.overtaken, tag]) });
  }

  /** A workload that is gone. */
  forget(record: WorkloadRecord): void {
    this.#known.delete(workloadKey(workloadOf(record)));
  }

  /**
   * Of a workload that was not restarted by us only whether it is complete, as if it had always been; nobody asks since when.
   * @param record as it was noted last
   */
  of(record: WorkloadRecord): Completion {
    const known = this.#known.get(workloadKey(workloadOf(record)));
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
