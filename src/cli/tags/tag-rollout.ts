import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Command, Option } from 'commander';
import { commandLine } from '../../api/command-line.ts';
import { jsonText } from '../../api/printable-text.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { RolloutAction, RolloutVerb } from '../../api/revision-tag/rollout-action.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { wantsRestarts } from '../../operator/restarts/restart-source.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { parseSeconds } from '../option-values.ts';
import { agrees, checkRights } from '../precautions.ts';
import { outputOption } from '../report/write-report.ts';
import { drawRollout } from '../rollout/draw-rollout.ts';
import { rollbackEvidence, rolloutLine, rolloutRecord } from '../rollout/rollout-lines.ts';
import { afterRollback, isObserved, rolloutEnd, rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { readinessOf } from '../usage/operator-health.ts';
import { findTag, readTag, requestAction } from './stored-tag.ts';

interface ActionOptions extends ClusterOptions {
  /** How long to wait, in seconds; 0 does not wait. */
  readonly timeout: number;
  readonly full?: true;
  readonly step?: true;
  readonly yes?: true;
}

const described: Record<RolloutVerb, string> = {
  promote: 'complete a rollout now: all workloads get the canary, and the remaining steps are skipped (--full)',
  abort: 'abort a rollout now: all workloads get the stable revision again',
  pause: 'pause a rollout at its current step, until it is resumed; the canary is still checked',
  resume: 'end the pause of the current step',
  retry: 'start a rollout again after a rollback',
};

/** How often to read the status while waiting for the answer, in milliseconds. */
const answerInterval = 200;

/** `injector tag promote|abort|pause|resume|retry`: requests an action and waits for the answer. */
export function tagActionCommand(verb: RolloutVerb, terminal: Terminal): Command {
  const command = clusterCommand(verb, described[verb])
    .argument('<tag>', 'the tag')
    .option('--timeout <seconds>', 'how long to wait for the answer (0: do not wait)', parseSeconds, 60)
    .action((name: string, options: ActionOptions) =>
      withCluster(options, async (client) => {
        await checkRights(client, ['get revisiontags.sidecar-injector.io', 'patch revisiontags.sidecar-injector.io']);
        const tag = await findTag(client, name);
        const wanted = options.step === true ? 'resume' : verb;
        const doubts = wanted === 'promote' ? rollbackEvidence(tag) : [];
        // The operator promotes only what is under way, so a rolled-back canary starts again.
        const startsAgain = doubts.length > 0 && isObserved(tag) && rolloutUnderWay(tag) === undefined;
        const why = whyNotNow(tag, startsAgain ? 'retry' : wanted);
        if (why !== undefined) throw new Error(`${why}; nothing was changed`);
        if (doubts.length > 0 && !(await agrees(terminal, doubts, options.yes === true))) return;
        if (wanted === 'promote' && options.full !== true) terminal.error(promoteNotice);
        if (startsAgain) await request(client, tag, 'retry', options.timeout || 60);
        terminal.out(`RevisionTag ${name}: ${await request(client, tag, wanted, options.timeout)}`);
      }),
    );
  if (verb !== 'promote') return command;
  return command
    .option('--full', 'complete the rollout; the default in this release')
    .addOption(
      new Option('--step', 'only end the pause of the step; the default in the next release').conflicts('full'),
    )
    .option('-y, --yes', 'do not ask if the canary was rolled back');
}

const promoteNotice =
  'promote completes the rollout, as promote --full does; in the next release, promote only ends the pause of the current step (--step)';

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

interface WatchOptions extends ClusterOptions {
  readonly output: 'text' | 'json';
}

/** How often `tag watch` reads the tag, in milliseconds. */
const watchInterval = 500;
/** How long to retry when the API server does not answer, in milliseconds. */
const patience = 60_000;

/** `injector tag watch`: exit status 3 after a rollback or stopped restarts, otherwise 0. */
export function tagWatchCommand(terminal: Terminal): Command {
  return clusterCommand(
    'watch',
    'show a rollout until it is promoted, and restarts until they are complete; exit status 3 if the rollout is rolled back or restarts stop',
  )
    .argument('<tag>', 'the tag')
    .addOption(outputOption(['text', 'json']))
    .action((name: string, { output, ...options }: WatchOptions) =>
      withCluster(options, async (client) => {
        const abort = new AbortController();
        const stop = terminal.onInterrupt(() => abort.abort());
        try {
          await watchTag(client, name, terminal, output, abort.signal);
        } finally {
          stop();
        }
      }),
    );
}

/** @param signal ends the command without a failure */
async function watchTag(
  client: ApiClient,
  name: string,
  terminal: Terminal,
  output: WatchOptions['output'],
  signal: AbortSignal,
): Promise<void> {
  const show = createPrinter(output, terminal);
  let tag = await findTag(client, name);
  if (tag.spec.strategy?.canary === undefined && !wantsRestarts(tag) && rolloutUnderWay(tag) === undefined) {
    const message = `tag ${name} moves immediately, because it has no canary strategy (spec.strategy.canary), and restarts no workloads (spec.strategy.restart); \`injector tag list\` shows its revision`;
    throw new Error(message);
  }
  let wasUnderWay = false;
  while (!signal.aborted) {
    show(tag);
    wasUnderWay ||= rolloutUnderWay(tag) !== undefined;
    const end = rolloutEnd(tag, wasUnderWay);
    if (end !== undefined) {
      if (!end.isSuccess) terminal.setExitCode(exitCodes.negative);
      return;
    }
    await sleep(watchInterval, undefined, { signal }).catch(() => undefined);
    tag = (await readAgain(client, name, terminal, signal)) ?? tag;
  }
}

/** Reads the tag. Retries if the API server does not answer. Returns undefined if interrupted. */
async function readAgain(
  client: ApiClient,
  name: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<RevisionTag | undefined> {
  const end = performance.now() + patience;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const tag = await readTag(client, name);
      if (tag === undefined)
        throw new Error(`RevisionTag ${name}: it was deleted; \`injector tag set\` creates it again`);
      return tag;
    } catch (error) {
      const isTransient = error instanceof ApiError && (error.code === 0 || error.code === 429 || error.code >= 500);
      if (!isTransient || performance.now() >= end) throw error;
      if (isFirst)
        terminal.error(`the API server does not answer (${error.message}): retrying for ${patience / 1000} s`);
      await sleep(watchInterval, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

/** Returns a function that prints each change of a tag, or redraws the screen. */
function createPrinter(output: WatchOptions['output'], terminal: Terminal): (tag: RevisionTag) => void {
  let drawn: readonly string[] = [];
  let before: unknown;
  return (tag) => {
    const screen = terminal.screen();
    const now = new Date();
    if (output === 'text' && screen !== undefined) {
      const lines = drawRollout(tag, screen, now);
      if (isDeepStrictEqual(lines, drawn)) return;
      terminal.redraw(drawn.length, lines);
      drawn = lines;
      return;
    }
    const after = output === 'json' ? rolloutRecord(tag) : rolloutLine(tag);
    if (isDeepStrictEqual(before, after)) return;
    before = after;
    const time = now.toISOString();
    terminal.out(typeof after === 'string' ? `${time} ${after}` : jsonText({ time, ...after }));
  };
}
