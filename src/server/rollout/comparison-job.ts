import type { PodSurroundings } from '../inject-handler.ts';
import type { LaneFailure, LaneJob } from '../lane/lane-job.ts';
import type { FromLane } from '../lane/lane-messages.ts';
import type { LaneThreadHandle } from '../lane/lane-thread-handle.ts';
import { laneTargetOf } from '../lane/review-job.ts';
import type { Comparison } from './compare-tracks.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** Levels to which a review may nest; it has been decided, so it is within the server's own bound already. */
const maxDepth = 1000;

/** One review to be rendered by both injectors of a rollout. */
export class ComparisonJob implements LaneJob {
  readonly bytes: number;
  readonly isUrgent = false;
  readonly startBy = Infinity;
  readonly allowed: number;
  readonly #body: Uint8Array<ArrayBuffer>;
  readonly #targets: RolloutTargets;
  readonly #surroundings: PodSurroundings;
  readonly #ended: (outcome: Comparison | 'nothing' | LaneFailure) => void;

  /**
   * @param body is given away
   * @param allowed milliseconds
   * @param ended is told once; `nothing` when there was nothing to compare
   */
  constructor(
    body: Uint8Array<ArrayBuffer>,
    targets: RolloutTargets,
    surroundings: PodSurroundings,
    allowed: number,
    ended: (outcome: Comparison | 'nothing' | LaneFailure) => void,
  ) {
    this.bytes = body.length;
    this.allowed = allowed;
    this.#body = body;
    this.#targets = targets;
    this.#surroundings = surroundings;
    this.#ended = ended;
  }

  start(thread: LaneThreadHandle): void {
    const stable = laneTargetOf(this.#targets.stable, thread);
    const canary = laneTargetOf(this.#targets.canary, thread);
    thread.send({ kind: 'compare', body: this.#body, maxDepth, stable, canary }, [this.#body.buffer]);
  }

  receive(message: FromLane, thread: LaneThreadHandle): boolean {
    switch (message.kind) {
      case 'decoded': {
        const { namespace } = message.request;
        thread.tellSurroundings({
          nodes: this.#surroundings.nodes?.(),
          proxyConfigs: this.#surroundings.proxyConfigs?.(namespace),
          namespaceMetadata: this.#surroundings.namespaceMetadata?.(namespace),
        });
        return false;
      }
      case 'compared':
        this.#ended(message.comparison ?? 'nothing');
        return true;
      case 'refused':
      case 'defect':
        this.#ended('crash');
        return true;
      case 'malformed':
      case 'decided':
      case 'read':
        this.#ended('nothing');
        return true;
    }
  }

  fail(why: LaneFailure): void {
    this.#ended(why);
  }
}
