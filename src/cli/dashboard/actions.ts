import { randomUUID } from 'node:crypto';
import { type DashboardQuestion, type DashboardVerb, dashboardVerbs } from '../../api/dashboard-reports.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { rolloutLine, stepOf } from '../rollout/rollout-lines.ts';
import { isObserved, rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { carryOut, judgeAction, readAction, type TagAction } from '../tags/tag-action.ts';

/** How long to wait for the operator's answer, in seconds. */
const patience = 60;

/**
 * Carries out actions of the page as `injector tag promote|abort|resume|retry` does, each after a
 * question. Only the latest question can be answered, and only once.
 */
export class Actions {
  readonly #client: ApiClient;
  readonly #told: (line: string) => void;
  #asked: { readonly id: string; readonly action: TagAction } | undefined;

  /** @param told gets a line for each action that was carried out */
  constructor(client: ApiClient, told: (line: string) => void) {
    this.#client = client;
    this.#told = told;
  }

  /** Returns what to ask. @throws Error if the command would refuse the action now */
  async ask(name: string, verb: string): Promise<DashboardQuestion> {
    const known = dashboardVerbs.find((each) => each === verb);
    if (known === undefined) throw new Error(`${verb} is no action; use one of ${dashboardVerbs.join(', ')}`);
    const action = await readAction(this.#client, name, known);
    const { tag, doubts } = action;
    this.#asked = { id: randomUUID(), action };
    const evidence = doubts.length > 0 ? doubts : [rolloutLine(tag)];
    return { id: this.#asked.id, tag: name, verb: known, effect: effectOf(action), evidence };
  }

  /**
   * Carries out the action of a question. Returns the operator's answer.
   * @throws Error if the question is not the latest, or the action would now do something else
   */
  async carryOut(id: string): Promise<string> {
    const { action } = this.#asked?.id === id ? this.#asked : {};
    if (action === undefined) throw new Error('this question was answered, or is not the latest; ask again');
    this.#asked = undefined;
    const { tag, verb } = action;
    const { name } = tag.metadata;
    const now = await readAction(this.#client, name, verb);
    if (effectOf(now) !== effectOf(action) || now.doubts.length !== action.doubts.length)
      throw new Error(
        `RevisionTag ${name}: the rollout has changed since the question; nothing was changed; ask again`,
      );
    const answer = await carryOut(this.#client, action, patience);
    this.#told(`RevisionTag ${name}: ${verb}: ${answer}`);
    return answer;
  }
}

/** Returns the actions that the operator would accept now. */
export function possibleActions(tag: RevisionTag): DashboardVerb[] {
  return isObserved(tag) ? dashboardVerbs.filter((verb) => judgeAction(tag, verb).refusal === undefined) : [];
}

/** Says what an action does, with the revisions and the step that it is about. */
function effectOf({ tag, verb, startsAgain }: TagAction): string {
  const { revision } = tag.spec;
  const canary = rolloutUnderWay(tag)?.canary.revision ?? revision;
  const again = startsAgain ? `The rollout to revision ${revision} starts again; then all` : 'All';
  const effects: Readonly<Record<string, string>> = {
    promote: `${again} workloads get revision ${canary} now, and the remaining steps are skipped.`,
    abort: `All workloads get the stable revision ${tag.status?.rollout?.stable.revision ?? ''} again, and the rollout to ${canary} ends.`,
    resume: `The pause of step ${stepOf(tag)} ends, and the rollout to revision ${canary} goes on.`,
    retry: `The rollout to revision ${revision} starts again with its first step.`,
  };
  return effects[verb] ?? verb;
}
