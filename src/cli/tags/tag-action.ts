import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
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
  /** Seconds; 0: do not wait. */
  readonly timeout: number;
}

const described: Record<RolloutVerb, string> = {
  promote: 'end a rollout now: every workload gets the canary, whatever steps are left',
  abort: 'end a rollout now: every workload gets the stable revision again',
  resume: 'end the pause of the present step',
  retry: 'begin a rollout again that was rolled back',
};

/** How often the status is read while the answer is waited for. Milliseconds. */
const interval = 200;

/** `injector tag promote|abort|resume|retry`: asks the operator by an annotation, and waits until it has answered. */
export function tagActionCommand(verb: RolloutVerb, terminal: Terminal): Command {
  return clusterCommand(verb, described[verb])
    .argument('<tag>', 'the tag')
    .option('--timeout <seconds>', 'how long to wait for the answer (0: not at all)', parseSeconds, 60)
    .action((name: string, options: ActionOptions) =>
      withCluster(options, async (client) => {
        await checkRights(client, ['get revisiontags.sidecar-injector.io', 'patch revisiontags.sidecar-injector.io']);
        const tag = await findTag(client, name);
        const why = whyNotNow(tag, verb);
        if (why !== undefined) throw new Error(`${why}; nothing was changed`);
        const action = { verb, nonce: randomUUID() };
        await annotateTag(client, tag, { [rolloutActionAnnotation]: formatRolloutAction(action) });
        if (options.timeout === 0) {
          terminal.out(`RevisionTag ${name}: asked for ${verb}\n`);
          return;
        }
        const { state, message } = await answerTo(action, client, name, options.timeout);
        if (state !== 'Done') throw new Error(`RevisionTag ${name}: ${verb}: ${message}`);
        terminal.out(`RevisionTag ${name}: ${message}\n`);
      }),
    );
}

/**
 * Why nothing would come of a request, by the status as it was read; undefined when something may. While the operator has not looked at the spec as
 * it is now, only it can tell.
 */
function whyNotNow(tag: RevisionTag, verb: RolloutVerb): string | undefined {
  const { name } = tag.metadata;
  if (tag.spec.strategy?.canary === undefined)
    return `tag ${name} moves at once, since it has no canary strategy (spec.strategy.canary): there is nothing to ${verb}`;
  if (!isObserved(tag)) return undefined;
  const rollout = tag.status?.rollout;
  const underWay = rolloutUnderWay(tag);
  if (verb === 'retry') {
    if (rollout?.phase === 'RolledBack') return undefined;
    return underWay === undefined
      ? `tag ${name}: nothing was rolled back; a rollout begins when spec.revision changes (\`injector tag set\`)`
      : `tag ${name}: the rollout to revision ${underWay.canary.revision} is under way, nothing was rolled back; \`injector tag watch ${name}\` shows it`;
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
    ? `tag ${name}: the pause of ${step} was ended already: ${underWay.message}`
    : undefined;
}

/** Waits until the operator has answered a request, by the status alone; without an answer the message says why. */
async function answerTo(
  { verb, nonce }: RolloutAction,
  client: ApiClient,
  name: string,
  seconds: number,
): Promise<{ state?: 'Done' | 'Refused'; message: string }> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const tag = await readTag(client, name);
    if (tag === undefined) return { message: 'somebody has deleted the tag' };
    const answer = tag.status?.rollout?.action;
    if (answer?.nonce === nonce && answer.verb === verb) return answer;
    await sleep(interval);
    if (performance.now() >= deadline) return { message: unanswered(tag) };
  }
}

function unanswered(tag: RevisionTag): string {
  const { ready, reason, message } = readinessOf(tag);
  const state = ready ? '' : ` (${reason}: ${message})`;
  return `no operator has answered in time${state}: is one of operatorClass ${tag.spec.operatorClass} running? The request stays and is carried out when there is one`;
}
