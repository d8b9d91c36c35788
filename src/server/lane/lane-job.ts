import type { FromLane } from './lane-messages.ts';
import type { Waiting } from './lane-queue.ts';
import type { LaneThreadHandle } from './lane-thread-handle.ts';

/** Why a job does not come to its end: no room, started too late, took too long or too much memory, or the thread broke. */
export type LaneFailure = 'full' | 'late' | 'deadline' | 'memory' | 'crash';

/** One thing for the lane to do. It tells its outcome to whoever asked for it. */
export interface LaneJob extends Waiting {
  /** Milliseconds on the lane's clock: later there is no point in starting. */
  readonly startBy: number;
  /** How long it may take from its start on, in milliseconds. */
  readonly allowed: number;
  start(thread: LaneThreadHandle): void;
  /** @returns whether the job is done */
  receive(message: FromLane, thread: LaneThreadHandle): boolean;
  fail(why: LaneFailure): void;
}
