import type { RevisionTag } from '../../api/revision-tag.ts';
import type { RolloutAction } from '../../api/rollout-action.ts';
import { readinessOf } from '../usage/readiness.ts';

export interface FollowActionOptions {
  readonly action: RolloutAction;
  /** Reads the tag as it is now; undefined when it is gone. */
  readonly read: () => Promise<RevisionTag | undefined>;
  /** Waits before the next look; false when there is no time left. */
  readonly pause: () => Promise<boolean>;
}

/** What became of a request. */
export interface ActionResult {
  readonly isDone: boolean;
  /** What was done, or why not. */
  readonly message: string;
}

/** Follows a request until the operator has answered it, by the status alone. */
export async function followAction({ action, read, pause }: FollowActionOptions): Promise<ActionResult> {
  for (;;) {
    const tag = await read();
    if (tag === undefined) return { isDone: false, message: 'somebody has deleted the tag' };
    const answer = tag.status?.rollout?.action;
    if (answer?.nonce === action.nonce && answer.verb === action.verb) {
      return { isDone: answer.state === 'Done', message: answer.message };
    }
    if (!(await pause())) return { isDone: false, message: unanswered(tag) };
  }
}

function unanswered(tag: RevisionTag): string {
  const { ready, reason, message } = readinessOf(tag);
  const state = ready ? '' : ` (${reason}: ${message})`;
  return `no operator has answered in time${state}: is one of operatorClass ${tag.spec.operatorClass} running? The request stays and is carried out when there is one`;
}
