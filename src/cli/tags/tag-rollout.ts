import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Command, Option } from 'commander';
import { jsonText } from '../../api/printable-text.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { RolloutVerb } from '../../api/revision-tag/rollout-action.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { wantsRestarts } from '../../operator/restarts/restart-source.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { parseSeconds } from '../option-values.ts';
import { agrees } from '../precautions.ts';
import { outputOption } from '../report/write-report.ts';
import { drawRollout } from '../rollout/draw-rollout.ts';
import { rolloutLine, rolloutRecord } from '../rollout/rollout-lines.ts';
import { rolloutEnd, rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { carryOut, readAction } from './tag-action.ts';
import { findTag, readTag } from './stored-tag.ts';

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

/** `injector tag promote|abort|pause|resume|retry`: requests an action and waits for the answer. */
export function tagActionCommand(verb: RolloutVerb, terminal: Terminal): Command {
  const command = clusterCommand(verb, described[verb])
    .argument('<tag>', 'the tag')
    .option('--timeout <seconds>', 'how long to wait for the answer (0: do not wait)', parseSeconds, 60)
    .action((name: string, options: ActionOptions) =>
      withCluster(options, async (client) => {
        const action = await readAction(client, name, options.step === true ? 'resume' : verb);
        if (action.doubts.length > 0 && !(await agrees(terminal, action.doubts, options.yes === true))) return;
        if (action.verb === 'promote' && options.full !== true) terminal.error(promoteNotice);
        terminal.out(`RevisionTag ${name}: ${await carryOut(client, action, options.timeout)}`);
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
