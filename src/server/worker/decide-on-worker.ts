import {
  type AdmissionDecision,
  denied,
  type RolloutTrack,
  type AdmissionRequest,
  type ReviewVersion,
  reviewVersions,
} from '../admission/admission-decision.ts';
import type { HeavyReview, HeavyVerdict } from '../admission/admission-handler.ts';
import { encodeDecision } from '../admission/encode-admission-review.ts';
import type { InjectionTarget, Surroundings } from '../admission/inject-handler.ts';
import { namespaceIn, splitReview } from '../admission/review-bytes.ts';
import type { HelperFailure } from '../helper/helper.ts';
import { type TrackChoice, withTrack } from '../rollout/rollout-targets.ts';
import type { ReviewWorker } from './review-worker.ts';

/** The inputs of a decision other than the bytes of the review. */
export interface ReviewContext {
  readonly target: InjectionTarget;
  /** In a rollout `target` is the stable configuration; the pod's workload determines the track. */
  readonly rollout?: { readonly canary: InjectionTarget; readonly choice: TrackChoice };
  readonly surroundings: () => Surroundings;
  /** See `RouteHandler.dependencies`. */
  readonly dependencies: () => readonly unknown[];
}

/** Decides a review of one route on the worker. Refuses the review if the worker has no answer. */
export function decideOnWorker(
  worker: ReviewWorker,
  context: ReviewContext,
  review: HeavyReview,
): Promise<HeavyVerdict> {
  const { target, rollout, surroundings } = context;
  const { body, maxDepth, timeout = worker.bounds.defaultTimeout } = review;
  // At least 45 % of the timeout is for waiting, and 10 % for returning the answer.
  const allowed = Math.min(worker.bounds.deadline, timeout * 0.45);
  // Until the thread has decoded the review, use the version and uid that `splitReview` finds.
  const split = splitReview(body);
  let version: ReviewVersion = split?.version ?? reviewVersions[0];
  let request: AdmissionRequest = { ...unknownRequest, uid: split?.uid ?? '' };
  let track: RolloutTrack | undefined;
  let dependencies: readonly unknown[] = [];

  function refused(why: HelperFailure): HeavyVerdict {
    const { name, hash } = track === 'canary' && rollout !== undefined ? rollout.canary : target;
    const [reason, problem] = refusalOf(why, allowed, worker.bounds.heapMebibytes);
    const advice = `make the pod smaller, or simplify the templates of ${name}`;
    const message = problem === '' ? 'internal error of the injector; see its log' : `${problem}; ${advice}`;
    const refusal: AdmissionDecision = { ...denied(reason, 500, message), outcome: 'failed', injector: { name, hash } };
    const decision = track === undefined ? refusal : withTrack(refusal, track);
    return { version, request, decision, encoded: encodeDecision(decision) };
  }

  return new Promise((resolve) => {
    worker.submit({
      bytes: body.length,
      namespace: namespaceIn(body),
      startBy: worker.clock() + timeout * 0.9 - allowed,
      allowed,
      task() {
        // Read the dependencies at the same moment as the inputs; the cache compares them later.
        dependencies = context.dependencies();
        return { body: ownBytes(review), maxDepth, target, ...(rollout && { rollout }), surroundings: surroundings() };
      },
      read: (decoded) => void ({ version, request, track } = decoded),
      ended(outcome, seconds) {
        worker.observer?.(typeof outcome === 'string' ? outcome : 'done', seconds);
        if (outcome === 'full' || outcome === 'late') resolve({ unavailable: 'too many large reviews at once' });
        else if (typeof outcome === 'string') resolve(refused(outcome));
        else if (outcome.kind === 'malformed') resolve(outcome.review);
        else if (outcome.kind === 'decided') {
          const { decision, encoded } = outcome;
          resolve({ version, request, decision, encoded, dependencies });
        } else {
          const error =
            outcome.kind === 'defect' ? outcome.error : 'the worker returned a comparison instead of a decision';
          worker.log.error('the worker failed unexpectedly', { error });
          resolve(refused('crash'));
        }
      },
    });
  });
}

/** Returns the reason and problem of a refusal; the problem is '' if the pod did not cause it. */
function refusalOf(why: HelperFailure, allowed: number, mebibytes: number): [reason: string, problem: string] {
  const takes = 'injecting this pod takes';
  if (why === 'deadline') return ['TooSlow', `${takes} longer than the limit of ${allowed} ms`];
  return why === 'memory' ? ['TooMuchMemory', `${takes} more than the limit of ${mebibytes} MiB`] : ['Internal', ''];
}

/** Returns the body in its own ArrayBuffer, which can be transferred to the thread. */
function ownBytes({ body, keepsBody }: HeavyReview): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = body;
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isAlone && !keepsBody ? new Uint8Array(buffer) : new Uint8Array(body);
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
