import { loadInjector, type Injector } from '../../inject/injector.ts';
import { withoutObjects } from '../admission/admission-decision.ts';
import { decodeAdmissionReview } from '../admission/decode-admission-review.ts';
import { encodeDecision } from '../admission/encode-admission-review.ts';
import { decideInjection, type InjectionTarget, type Surroundings } from '../admission/inject-handler.ts';
import { compareTracks } from '../rollout/compare-tracks.ts';
import { decideRollout, trackOf } from '../rollout/rollout-targets.ts';
import { workerLimits } from './limits.ts';
import type { NumberedTarget, ReadReview, ToThread, WorkerAnswer } from './messages.ts';

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
        ? decideInjection(stable, request, surroundings)
        : decideRollout(targets, choice, request, surroundings);
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
