import { loadInjector, type Injector } from '../../inject/injector.ts';
import { decodeAdmissionReview } from '../admission/decode-admission-review.ts';
import { encodeDecision } from '../admission/encode-admission-review.ts';
import { decideInjection, type InjectionTarget, type PodSurroundings } from '../admission/inject-handler.ts';
import { nameForPeople } from '../admission/admission-request.ts';
import { compareTracks } from '../rollout/compare-tracks.ts';
import { decideRollout, trackOf } from '../rollout/rollout-targets.ts';
import { workerLimits } from './limits.ts';
import type { FromThread, NumberedTarget, Surroundings, ToThread, WorkerAnswer } from './messages.ts';

/** Configurations that the thread keeps. */
const maxInjectors = 4;

/** What the worker's thread does: the same functions as the main thread, with nobody waiting beside it. */
export class ReviewThread {
  /** By number, in order of use. */
  readonly #injectors = new Map<number, Injector>();
  /** What is to be done with a review once its surroundings are known. */
  #decide: ((surroundings: PodSurroundings) => WorkerAnswer) | undefined;
  /** As they were sent last. */
  #lists: Surroundings = {};

  /** Does what a message asks for. Never throws. */
  answer(message: ToThread): FromThread {
    try {
      return message.kind === 'review' ? this.#read(message) : this.#surround(message.surroundings);
    } catch (error) {
      return { kind: 'defect', error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' };
    }
  }

  #read({ body, maxDepth, target, rollout }: Extract<ToThread, { kind: 'review' }>): FromThread {
    const review = decodeAdmissionReview(Buffer.from(body.buffer, body.byteOffset, body.byteLength), maxDepth);
    if ('problem' in review) return { kind: 'malformed', review };
    const { version, request } = review;
    const stable = this.#target(target);
    const targets = { stable, canary: rollout === undefined ? stable : this.#target(rollout.canary) };
    const choice = rollout?.choice;
    this.#decide = (surroundings) => {
      if (choice === 'compare') return { kind: 'compared', comparison: compareTracks(targets, request, surroundings) };
      const decision =
        choice === undefined
          ? decideInjection(stable, request, surroundings)
          : decideRollout(targets, choice, request, surroundings);
      return { kind: 'decided', decision: { ...decision, patch: [] }, encoded: encodeDecision(decision) };
    };
    const track = choice === undefined || choice === 'compare' ? {} : { track: trackOf(choice, request) };
    const bare = { ...request, name: nameForPeople(request), object: null, oldObject: null };
    return { kind: 'decoded', version, request: bare, ...track };
  }

  #surround({ namespaceMetadata, ...changed }: Surroundings): WorkerAnswer {
    this.#lists = { ...this.#lists, ...changed };
    const decide = this.#decide;
    if (decide === undefined) throw new Error('there are surroundings of no review');
    this.#decide = undefined;
    const { nodes, proxyConfigs } = this.#lists;
    return decide({
      ...(nodes === undefined ? {} : { nodes: () => nodes }),
      ...(proxyConfigs === undefined ? {} : { proxyConfigs: () => proxyConfigs }),
      namespaceMetadata: () => namespaceMetadata,
    });
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
