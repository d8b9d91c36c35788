import { type AdmissionDecision, denied, type RolloutTrack } from '../admission-decision.ts';
import { type AdmissionRequest, type ReviewVersion, reviewVersions } from '../admission-request.ts';
import { encodeDecision } from '../encode-admission-review.ts';
import type { InjectionTarget, PodSurroundings } from '../inject-handler.ts';
import { splitReview } from '../review-bytes.ts';
import { type TrackChoice, withTrack } from '../rollout/rollout-targets.ts';
import type { LaneFailure, LaneJob } from './lane-job.ts';
import type { LaneLimits } from './lane-limits.ts';
import type { FromLane, LaneTarget } from './lane-messages.ts';
import type { LaneThreadHandle } from './lane-thread-handle.ts';
import type { HeavyReview, LaneVerdict } from './review-lane.ts';

/** What the answer depends on, beside the bytes. */
export interface ReviewContext {
  readonly target: InjectionTarget;
  /** In a rollout the target is the stable one, and the pod tells which it is. */
  readonly rollout?: { readonly canary: InjectionTarget; readonly choice: TrackChoice };
  readonly surroundings: PodSurroundings;
  /** See `RouteHandler.dependencies`. */
  readonly dependencies: (request: AdmissionRequest) => readonly unknown[];
}

/** One review for the lane. */
export class ReviewJob implements LaneJob {
  readonly bytes: number;
  readonly startBy: number;
  readonly allowed: number;
  readonly #review: HeavyReview;
  readonly #context: ReviewContext;
  readonly #limits: LaneLimits;
  readonly #tell: (verdict: LaneVerdict) => void;
  readonly #defect: (error: string) => void;
  /** As far as they are known yet. */
  #version: ReviewVersion = reviewVersions[0];
  #request: AdmissionRequest;
  #track: RolloutTrack | undefined;
  #dependencies: readonly unknown[] = [];

  /** @param now on the lane's clock */
  constructor(
    review: HeavyReview,
    context: ReviewContext,
    limits: LaneLimits,
    now: number,
    tell: (verdict: LaneVerdict) => void,
    defect: (error: string) => void,
  ) {
    const { body, timeout = limits.defaultTimeout } = review;
    this.bytes = body.length;
    // Half of the time is for waiting; and an answer needs a while to get back.
    this.allowed = Math.min(limits.deadline, timeout * 0.45);
    this.startBy = now + timeout * 0.9 - this.allowed;
    this.#review = review;
    this.#context = context;
    this.#limits = limits;
    this.#tell = tell;
    this.#defect = defect;
    const split = splitReview(body);
    if (split !== undefined) this.#version = split.version;
    this.#request = { ...unknownRequest, uid: split?.uid ?? '' };
  }

  start(thread: LaneThreadHandle): void {
    const { target, rollout } = this.#context;
    const { maxDepth } = this.#review;
    const body = this.#ownBytes();
    const more =
      rollout === undefined
        ? {}
        : { rollout: { canary: laneTargetOf(rollout.canary, thread), choice: rollout.choice } };
    thread.send({ kind: 'review', body, maxDepth, ...laneTargetOf(target, thread), ...more }, [body.buffer]);
  }

  receive(message: FromLane, thread: LaneThreadHandle): boolean {
    switch (message.kind) {
      case 'decoded':
        this.#tellSurroundings(message, thread);
        return false;
      case 'malformed':
        this.#tell(message.review);
        return true;
      case 'decided': {
        const { decision, encoded } = message;
        const dependencies = this.#dependencies;
        this.#tell({ version: this.#version, request: this.#request, decision, encoded, dependencies });
        return true;
      }
      case 'refused':
      case 'defect':
        this.#defect(message.kind === 'defect' ? message.error : message.message);
        this.#refuse('Internal', 'internal error of the injector; its log says more');
        return true;
      case 'compared':
        return false;
    }
  }

  fail(why: LaneFailure): void {
    const { heapMebibytes } = this.#limits;
    const { name } = this.#target;
    const advice = `make it smaller, or the templates of ${name} cheaper`;
    switch (why) {
      case 'full':
      case 'late':
        this.#tell({ unavailable: 'too many large reviews at once' });
        return;
      case 'deadline':
        this.#refuse('TooSlow', `injecting this pod takes longer than the limit of ${this.allowed} ms: ${advice}`);
        return;
      case 'memory':
        this.#refuse(
          'TooMuchMemory',
          `injecting this pod takes more than the limit of ${heapMebibytes} MiB: ${advice}`,
        );
        return;
      case 'crash':
        this.#refuse('Internal', 'internal error of the injector; its log says more');
    }
  }

  /** At this moment, for both: what the decision is made from, and what it is remembered by. */
  #tellSurroundings(
    { version, request, track }: Extract<FromLane, { kind: 'decoded' }>,
    thread: LaneThreadHandle,
  ): void {
    const { surroundings, dependencies } = this.#context;
    this.#version = version;
    this.#request = request;
    this.#track = track;
    this.#dependencies = dependencies(request);
    thread.tellSurroundings({
      nodes: surroundings.nodes?.(),
      proxyConfigs: surroundings.proxyConfigs?.(request.namespace),
      namespaceMetadata: surroundings.namespaceMetadata?.(request.namespace),
    });
  }

  /** Who decides, as far as that is known yet. */
  get #target(): InjectionTarget {
    const { target, rollout } = this.#context;
    return this.#track === 'canary' && rollout !== undefined ? rollout.canary : target;
  }

  /** The body in memory that holds nothing else, to be handed over. */
  #ownBytes(): Uint8Array<ArrayBuffer> {
    const { body, keepsBody } = this.#review;
    const { buffer, byteLength } = body;
    if (!keepsBody && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) {
      return new Uint8Array(buffer);
    }
    return new Uint8Array(body);
  }

  #refuse(reason: string, message: string): void {
    const { name, hash } = this.#target;
    const refusal: AdmissionDecision = {
      ...denied(reason, 500, message),
      outcome: 'failed',
      injector: { name, hash },
    };
    const decision = this.#track === undefined ? refusal : withTrack(refusal, this.#track);
    this.#tell({ version: this.#version, request: this.#request, decision, encoded: encodeDecision(decision) });
  }
}

/** Tells the thread of a target's injector. */
export function laneTargetOf(target: InjectionTarget, thread: LaneThreadHandle): LaneTarget {
  const { name, hash, path, annotate } = target;
  return { injector: thread.learn(target.injector), target: { name, hash, path, annotate } };
}

const unknownRequest: AdmissionRequest = {
  uid: '',
  resource: undefined,
  subResource: '',
  name: '',
  namespace: '',
  operation: 'CREATE',
  dryRun: false,
  object: null,
  oldObject: null,
};
