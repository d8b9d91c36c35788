import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import { ConfigurationError } from '../../api/errors.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import type { RolloutTrack } from '../admission-decision.ts';
import type { AdmissionRequest } from '../admission-request.ts';
import { decodeAdmissionReview, type DecodedReview } from '../decode-admission-review.ts';
import { encodeDecision } from '../encode-admission-review.ts';
import { decideInjection, type InjectionTarget, type PodSurroundings } from '../inject-handler.ts';
import { nameForPeople } from '../pod-name.ts';
import { compareTracks } from '../rollout/compare-tracks.ts';
import { decideRollout, type RolloutTargets, trackOf } from '../rollout/rollout-targets.ts';
import { laneThreadLimits } from './lane-limits.ts';
import type { FromLane, LaneSurroundings, LaneTarget, ToLane } from './lane-messages.ts';

type Decoded = Extract<DecodedReview, { request: AdmissionRequest }>;

/** What the lane's thread does: the same functions as the main thread, with nobody waiting beside it. */
export class LaneWorker {
  readonly #post: (message: FromLane) => void;
  readonly #files = new Map<number, ConfigurationFiles>();
  readonly #injectors = new Map<number, Injector>();
  /** What is to be done with a review once its surroundings are known. */
  #waiting: ((surroundings: PodSurroundings) => FromLane) | undefined;
  /** As they were sent last. */
  #lists: Pick<LaneSurroundings, 'nodes' | 'proxyConfigs'> = {};

  constructor(post: (message: FromLane) => void) {
    this.#post = post;
  }

  /** Does what a message asks for. Never throws. */
  receive(message: ToLane): void {
    try {
      this.#handle(message);
    } catch (error) {
      if (error instanceof ConfigurationError) {
        this.#post({ kind: 'refused', field: error.field, message: error.message });
      } else this.#post({ kind: 'defect', error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' });
    }
  }

  #handle(message: ToLane): void {
    switch (message.kind) {
      case 'learn':
        this.#files.set(message.injector, message.files);
        return;
      case 'forget':
        this.#files.delete(message.injector);
        this.#injectors.delete(message.injector);
        return;
      case 'review':
        this.#review(message);
        return;
      case 'compare':
        this.#compare(message);
        return;
      case 'surroundings':
        this.#act(message.surroundings);
    }
  }

  #review({ body, maxDepth, rollout, ...own }: Extract<ToLane, { kind: 'review' }>): void {
    const stable = this.#target(own);
    const targets = rollout === undefined ? undefined : { stable, canary: this.#target(rollout.canary) };
    const decoded = this.#decode(body, maxDepth, (request, surroundings) => {
      const decision =
        targets === undefined || rollout === undefined
          ? decideInjection(stable, request, surroundings)
          : decideRollout(targets, rollout.choice, request, surroundings);
      return { kind: 'decided', decision: { ...decision, patch: [] }, encoded: encodeDecision(decision) };
    });
    if (decoded === undefined) return;
    this.#tell(decoded, rollout === undefined ? {} : { track: trackOf(rollout.choice, decoded.request) });
  }

  #compare({ body, maxDepth, stable, canary }: Extract<ToLane, { kind: 'compare' }>): void {
    const targets: RolloutTargets = { stable: this.#target(stable), canary: this.#target(canary) };
    const decoded = this.#decode(body, maxDepth, (request, surroundings) => {
      return { kind: 'compared', comparison: compareTracks(targets, request, surroundings) };
    });
    if (decoded !== undefined) this.#tell(decoded, {});
  }

  /** @param act what is to be done with it @returns undefined when it is not a review, which has been told then */
  #decode(
    body: Uint8Array,
    maxDepth: number,
    act: (request: AdmissionRequest, surroundings: PodSurroundings) => FromLane,
  ): Decoded | undefined {
    const review = decodeAdmissionReview(Buffer.from(body.buffer, body.byteOffset, body.byteLength), maxDepth);
    if ('problem' in review) {
      this.#post({ kind: 'malformed', review });
      return undefined;
    }
    this.#waiting = (surroundings) => act(review.request, surroundings);
    return review;
  }

  /** Asks for the surroundings of what was decoded. */
  #tell({ version, request }: Decoded, more: { readonly track?: RolloutTrack }): void {
    const bare = { ...request, name: nameForPeople(request), object: null, oldObject: null };
    this.#post({ kind: 'decoded', version, request: bare, ...more });
  }

  #target({ injector, target }: LaneTarget): InjectionTarget {
    return { ...target, injector: this.#injector(injector) };
  }

  #injector(number: number): Injector {
    const known = this.#injectors.get(number);
    if (known !== undefined) return known;
    const files = this.#files.get(number);
    if (files === undefined) throw new Error(`the lane does not know injector ${number}`);
    const injector = loadInjector(files, { limits: laneThreadLimits });
    this.#injectors.set(number, injector);
    return injector;
  }

  #act({ namespaceMetadata, ...changed }: LaneSurroundings): void {
    this.#lists = { ...this.#lists, ...changed };
    const act = this.#waiting;
    if (act === undefined) throw new Error('there are surroundings of no review');
    this.#waiting = undefined;
    const { nodes, proxyConfigs } = this.#lists;
    const outcome = act({
      ...(nodes === undefined ? {} : { nodes: () => nodes }),
      ...(proxyConfigs === undefined ? {} : { proxyConfigs: () => proxyConfigs }),
      namespaceMetadata: () => namespaceMetadata,
    });
    this.#post(outcome);
  }
}
