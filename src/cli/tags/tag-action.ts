import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { commandLine } from '../../api/command-line.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { formatRolloutAction, rolloutActionAnnotation } from '../../api/revision-tag/rollout-action.ts';
import type { RolloutAction, RolloutVerb } from '../../api/revision-tag/rollout-action.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { checkRights } from '../kill-switch/check-rights.ts';
import { parseSeconds } from '../option-values.ts';
import { findTag, readTag } from './find-tag.ts';
import { annotateTag } from './write-tag.ts';
import type { Terminal } from '../terminal.ts';
import { afterRollback, isObserved, rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { readinessOf } from '../usage/readiness.ts';

interface ActionOptions extends ClusterOptions {
  /** How long to wait, in seconds; 0 does not wait. */
  readonly timeout: number;
}

const described: Record<RolloutVerb, string> = {
  promote: 'complete a rollout now: all workloads get the canary, and the remaining steps are skipped',
  abort: 'abort a rollout now: all workloads get the stable revision again',
  resume: 'end the pause of the current step',
  retry: 'start a rollout again after a rollback',
};

/** How often to read the status while waiting for the answer, in milliseconds. */
const interval = 200;

/** `injector tag promote|abort|resume|retry`: requests an action and waits for the answer. */
export function tagActionCommand(verb: RolloutVerb, terminal: Terminal): Command {
  return clusterCommand(verb, described[verb])
    .argument('<tag>', 'the tag')
    .option('--timeout <seconds>', 'how long to wait for the answer (0: do not wait)', parseSeconds, 60)
    .action((name: string, options: ActionOptions) =>
      withCluster(options, async (client) => {
        await checkRights(client, ['get revisiontags.sidecar-injector.io', 'patch revisiontags.sidecar-injector.io']);
        const tag = await findTag(client, name);
        const why = whyNotNow(tag, verb);
        if (why !== undefined) throw new Error(`${why}; nothing was changed`);
        const action = { verb, nonce: randomUUID() };
        await annotateTag(client, tag, { [rolloutActionAnnotation]: formatRolloutAction(action) });
        if (options.timeout === 0) {
          terminal.out(`RevisionTag ${name}: requested ${verb}`);
          return;
        }
        const { state, message } = await answerTo(action, client, name, options.timeout);
        if (state !== 'Done') throw new Error(`RevisionTag ${name}: ${verb}: ${message}`);
        terminal.out(`RevisionTag ${name}: ${message}`);
      }),
    );
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
  if (verb !== 'resume') return undefined;
  const step = `step ${underWay.step + 1}`;
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
    await sleep(interval);
    if (performance.now() >= deadline) return { message: unanswered(tag) };
  }
}

function unanswered(tag: RevisionTag): string {
  const { ready, reason, message } = readinessOf(tag);
  const state = ready ? '' : ` (${reason}: ${message})`;
  return `no operator has answered in time${state}: check that an operator of operatorClass ${tag.spec.operatorClass} is running. The request remains and is carried out later`;
}
