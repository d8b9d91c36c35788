import type { PodSurroundings } from '../inject-handler.ts';
import type { LaneFailure, LaneJob } from '../lane/lane-job.ts';
import type { FromLane } from '../lane/lane-messages.ts';
import type { LaneThreadHandle } from '../lane/lane-thread-handle.ts';
import { laneTargetOf } from '../lane/review-job.ts';
import type { MonotonicClock } from '../ports.ts';
import type { Comparison } from './compare-tracks.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** `nothing`: there was nothing to compare. */
export type ComparisonOutcome = Comparison | 'nothing' | LaneFailure;

/** Levels to which a review may nest; it has been decided, so it is within the server's own bound already. */
const maxDepth = 1000;

/** One review to be rendered by both injectors of a rollout. */
export class ComparisonJob implements LaneJob {
  readonly bytes: number;
  readonly startBy = Infinity;
  readonly allowed: number;
  readonly #body: Uint8Array<ArrayBuffer>;
  readonly #targets: RolloutTargets;
  readonly #surroundings: PodSurroundings;
  readonly #clock: MonotonicClock;
  readonly #ended: (outcome: ComparisonOutcome, milliseconds: number) => void;
  #begun = 0;

  /**
   * @param body is given away
   * @param allowed milliseconds
   * @param ended is told once, and how long rendering took; a thread that was just started may have taken longer to get there
   */
  constructor(
    body: Uint8Array<ArrayBuffer>,
    targets: RolloutTargets,
    surroundings: PodSurroundings,
    allowed: number,
    clock: MonotonicClock,
    ended: (outcome: ComparisonOutcome, milliseconds: number) => void,
  ) {
    this.bytes = body.length;
    this.allowed = allowed;
    this.#body = body;
    this.#targets = targets;
    this.#surroundings = surroundings;
    this.#clock = clock;
    this.#ended = ended;
  }

  start(thread: LaneThreadHandle): void {
    this.#begun = this.#clock();
    const stable = laneTargetOf(this.#targets.stable, thread);
    const canary = laneTargetOf(this.#targets.canary, thread);
    thread.send({ kind: 'compare', body: this.#body, maxDepth, stable, canary }, [this.#body.buffer]);
  }

  receive(message: FromLane, thread: LaneThreadHandle): boolean {
    switch (message.kind) {
      case 'decoded': {
        const { namespace } = message.request;
        this.#begun = this.#clock();
        thread.tellSurroundings({
          nodes: this.#surroundings.nodes?.(),
          proxyConfigs: this.#surroundings.proxyConfigs?.(namespace),
          namespaceMetadata: this.#surroundings.namespaceMetadata?.(namespace),
        });
        return false;
      }
      case 'compared':
        this.#end(message.comparison ?? 'nothing');
        return true;
      case 'refused':
      case 'defect':
        this.#end('crash');
        return true;
      case 'malformed':
      case 'decided':
        this.#end('nothing');
        return true;
    }
  }

  fail(why: LaneFailure): void {
    this.#end(why);
  }

  #end(outcome: ComparisonOutcome): void {
    this.#ended(outcome, this.#clock() - this.#begun);
  }
}
