import type { AdmissionDecision } from '../admission-decision.ts';
import type { HeavyLane } from './heavy-lane.ts';
import { ReviewJob, type ReviewContext } from './review-job.ts';
import type { HeavyReview, LaneVerdict, ReviewLane } from './review-lane.ts';

/** The lane as it is offered to one target of a route. */
export function laneOf(lane: HeavyLane, context: ReviewContext): ReviewLane {
  return {
    goesOn: ({ outcome, reason }: AdmissionDecision) => outcome === 'failed' && reason === 'TemplateLimit',
    decide: (review: HeavyReview) =>
      new Promise<LaneVerdict>((resolve) => {
        const defect = (error: string): void => {
          lane.log.error('the lane failed unexpectedly', { error });
        };
        lane.submit(new ReviewJob(review, context, lane.limits, lane.clock(), resolve, defect));
      }),
  };
}
