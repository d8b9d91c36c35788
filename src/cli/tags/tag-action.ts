import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine } from '../../api/command-line.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { RolloutAction, RolloutVerb } from '../../api/revision-tag/rollout-action.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { checkRights } from '../precautions.ts';
import { rollbackEvidence } from '../rollout/rollout-lines.ts';
import { afterRollback, isObserved, rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { readinessOf } from '../usage/operator-health.ts';
import { findTag, readTag, requestAction } from './stored-tag.ts';

/** An action of a rollout, as judged from the tag. */
export interface TagAction {
  readonly tag: RevisionTag;
  readonly verb: RolloutVerb;
  /** What speaks against the action, so that a person must agree; mostly empty. */
  readonly doubts: readonly string[];
  /** Whether to retry first, because the operator promotes only what is under way. */
  readonly startsAgain: boolean;
  /** Why the operator would refuse the action. */
  readonly refusal: string | undefined;
}

/** Judges an action. */
export function judgeAction(tag: RevisionTag, verb: RolloutVerb): TagAction {
  const doubts = verb === 'promote' ? rollbackEvidence(tag) : [];
  const startsAgain = doubts.length > 0 && isObserved(tag) && rolloutUnderWay(tag) === undefined;
  return { tag, verb, doubts, startsAgain, refusal: whyNotNow(tag, startsAgain ? 'retry' : verb) };
}

/** Reads a tag, and judges an action. @throws Error if the user or the operator cannot do it now */
export async function readAction(client: ApiClient, name: string, verb: RolloutVerb): Promise<TagAction> {
  await checkRights(client, ['get revisiontags.sidecar-injector.io', 'patch revisiontags.sidecar-injector.io']);
  const action = judgeAction(await findTag(client, name), verb);
  if (action.refusal !== undefined) throw new Error(`${action.refusal}; nothing was changed`);
  return action;
}

/**
 * Requests an action, unless the tag's spec has changed since it was judged. Returns the answer.
 * @param timeout how long to wait for the answer, in seconds; 0 does not wait
 * @throws Error with the refusal, or why there is no answer
 */
export async function carryOut(
  client: ApiClient,
  { tag, verb, startsAgain }: TagAction,
  timeout: number,
): Promise<string> {
  if (startsAgain) await request(client, tag, 'retry', timeout || 60);
  return request(client, tag, verb, timeout);
}

/** How often to read the status while waiting for the answer, in milliseconds. */
const answerInterval = 200;

/** Requests an action, and returns the answer. @throws Error with the refusal, or why none came */
async function request(client: ApiClient, tag: RevisionTag, verb: RolloutVerb, timeout: number): Promise<string> {
  const { name } = tag.metadata;
  const action = { verb, nonce: randomUUID() };
  await requestAction(client, tag, action);
  if (timeout === 0) return `requested ${verb}`;
  const { state, message } = await answerTo(action, client, name, timeout);
  if (state !== 'Done') throw new Error(`RevisionTag ${name}: ${verb}: ${message}`);
  return message;
}

/** Returns why the operator would refuse an action; undefined if it can accept the action. */
function whyNotNow(tag: RevisionTag, verb: RolloutVerb): string | undefined {
  const { name } = tag.metadata;
  if (tag.spec.strategy?.canary === undefined)
    return `tag ${name} moves immediately, because it has no canary strategy (spec.strategy.canary): there is nothing to ${verb}`;
  if (!isObserved(tag)) return undefined;
  const rollout = tag.status?.rollout;
  const underWay = rolloutUnderWay(tag);
  if (verb === 'retry') {
    if (rollout?.phase === 'RolledBack') return undefined;
    return underWay === undefined
      ? `tag ${name}: nothing was rolled back; a rollout begins when spec.revision changes (\`injector tag set\`)`
      : `tag ${name}: the rollout to revision ${underWay.canary.revision} is under way, nothing was rolled back; \`${commandLine`injector tag watch ${name}`}\` shows it`;
  }
  if (underWay === undefined) {
    const next = afterRollback(tag);
    const end = next === undefined ? '' : `: ${rollout?.message ?? ''}; ${next}`;
    return `tag ${name}: no rollout is under way${end}`;
  }
  const step = `step ${underWay.step + 1}`;
  if (verb === 'pause' && underWay.reason === 'UntilResumed')
    return `tag ${name}: ${step} is already paused: ${underWay.message}`;
  if (verb !== 'resume') return undefined;
  if (underWay.pausedAt === undefined) return `tag ${name}: ${step} is not paused: ${underWay.message}`;
  return underWay.resumed === true
    ? `tag ${name}: the pause of ${step} has already ended: ${underWay.message}`
    : undefined;
}

/** Waits for the operator's answer in the status; if there is none, the message explains why. */
async function answerTo(
  { verb, nonce }: RolloutAction,
  client: ApiClient,
  name: string,
  seconds: number,
): Promise<{ state?: 'Done' | 'Refused'; message: string }> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const tag = await readTag(client, name);
    if (tag === undefined) return { message: 'the tag was deleted' };
    const answer = tag.status?.rollout?.action;
    if (answer?.nonce === nonce && answer.verb === verb) return answer;
    // An operator that does not know the verb.
    if (answer?.verb === 'unknown' && answer.nonce === `${verb}:${nonce}`.slice(0, answer.nonce.length)) return answer;
    await sleep(answerInterval);
    if (performance.now() >= deadline) return { message: unanswered(tag) };
  }
}

function unanswered(tag: RevisionTag): string {
  const { ready, reason, message } = readinessOf(tag);
  const state = ready || reason === 'NotLookedAt' ? '' : ` (${reason}: ${message})`;
  return `no operator has answered in time${state}: check that an operator of operatorClass ${tag.spec.operatorClass} is running. The request remains and is carried out later`;
}
