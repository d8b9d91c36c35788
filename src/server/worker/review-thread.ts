import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { injectFinally } from '../../inject/inject.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import {
  type AdmissionDecision,
  type AdmissionRequest,
  type ReviewVersion,
  type RolloutTrack,
  withoutObjects,
} from '../admission/admission-decision.ts';
import { decodeAdmissionReview, type MalformedReview } from '../admission/decode-admission-review.ts';
import { encodeDecision } from '../admission/encode-admission-review.ts';
import { decideInjection, type InjectionTarget, type Surroundings } from '../admission/inject-handler.ts';
import { compareTracks, type Comparison } from '../rollout/compare-tracks.ts';
import { decideRollout, type TrackChoice, trackOf } from '../rollout/rollout-targets.ts';
import { workerLimits } from './limits.ts';

/** A review that the thread decides or, if `choice` is `compare`, renders with both targets. */
export interface ReviewTask<Target = InjectionTarget> {
  /** The bytes, which are transferred to the thread. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The maximum depth of the review, in levels. */
  readonly maxDepth: number;
  readonly target: Target;
  readonly rollout?: { readonly canary: Target; readonly choice: TrackChoice | 'compare' };
  readonly surroundings: Surroundings;
}

/** A target in a message. The number identifies the loaded configuration. */
export interface NumberedTarget extends Omit<InjectionTarget, 'injector'> {
  readonly number: number;
  readonly files: ConfigurationFiles;
}

/** A message to the worker's thread. Omits unchanged surroundings, which can be large. */
export type ToThread = ReviewTask<NumberedTarget>;

/** The answer to a task. */
export type WorkerAnswer =
  | { readonly kind: 'malformed'; readonly review: MalformedReview }
  /** The decision lacks its patch, which `encoded` contains. */
  | { readonly kind: 'decided'; readonly decision: AdmissionDecision; readonly encoded: string }
  /** The comparison is undefined if the request does not create a pod. */
  | { readonly kind: 'compared'; readonly comparison: Comparison | undefined }
  /** An unexpected exception. */
  | { readonly kind: 'defect'; readonly error: string };

/** A decoded review whose decision follows; the request lacks its objects. */
export interface ReadReview {
  readonly kind: 'decoded';
  readonly version: ReviewVersion;
  readonly request: AdmissionRequest;
  readonly track?: RolloutTrack;
}

/** A message from the worker's thread: the decoded review if it is valid, then the answer. */
export type FromThread = ReadReview | WorkerAnswer;

/** The number of configurations that the thread caches. */
const maxInjectors = 4;

/** Decides reviews on the worker's thread, with the functions of the main thread. */
export class ReviewThread {
  /** The injectors by number; the least recently used injector is first. */
  readonly #injectors = new Map<number, Injector>();
  /** The surroundings of the last message that contained them. */
  #surroundings: Surroundings = {};

  /** Answers a message. Never throws. @param read called with the review before the decision */
  answer(message: ToThread, read: (review: ReadReview) => void): WorkerAnswer {
    this.#surroundings = { ...this.#surroundings, ...message.surroundings };
    try {
      return this.#decide(message, read);
    } catch (error) {
      return { kind: 'defect', error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' };
    }
  }

  #decide({ body, maxDepth, target, rollout }: ToThread, read: (review: ReadReview) => void): WorkerAnswer {
    const review = decodeAdmissionReview(Buffer.from(body.buffer, body.byteOffset, body.byteLength), maxDepth);
    if ('problem' in review) return { kind: 'malformed', review };
    const { version, request } = review;
    const choice = rollout?.choice;
    const track = choice === undefined || choice === 'compare' ? {} : { track: trackOf(choice, request) };
    read({ kind: 'decoded', version, request: withoutObjects(request), ...track });
    const surroundings = this.#surroundings;
    const stable = this.#target(target);
    const targets = { stable, canary: rollout === undefined ? stable : this.#target(rollout.canary) };
    if (choice === 'compare') return { kind: 'compared', comparison: compareTracks(targets, request, surroundings) };
    const decision =
      choice === undefined
        ? decideInjection(stable, request, surroundings, injectFinally)
        : decideRollout(targets, choice, request, surroundings, injectFinally);
    return { kind: 'decided', decision: { ...decision, patch: [] }, encoded: encodeDecision(decision) };
  }

  #target({ number, files, ...target }: NumberedTarget): InjectionTarget {
    const injector = this.#injectors.get(number) ?? loadInjector(files, { limits: workerLimits });
    this.#injectors.delete(number);
    this.#injectors.set(number, injector);
    const [oldest = number] = this.#injectors.keys();
    if (this.#injectors.size > maxInjectors) this.#injectors.delete(oldest);
    return { ...target, injector };
  }
}
