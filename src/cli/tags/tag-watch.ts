import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { drawRollout } from '../rollout/draw-rollout.ts';
import { wantsRestarts } from '../../operator/restarts/restart-source.ts';
import { rolloutEnd } from '../rollout/rollout-end.ts';
import { rolloutLine, rolloutRecord } from '../rollout/rollout-lines.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { findTag, readTag } from './find-tag.ts';

interface WatchOptions extends ClusterOptions {
  readonly output: 'text' | 'json';
}

/** Milliseconds between two looks at the tag. */
const interval = 500;
/** How long the API server may be away before the command gives up. Milliseconds. */
const patience = 60_000;

/**
 * `injector tag watch`: shows a rollout until it is promoted (exit status 0) or rolled back (3), and the restarts that the spec asks for until there
 * is nothing more to restart (0), or nothing more is restarted (3).
 */
export function tagWatchCommand(terminal: Terminal): Command {
  return clusterCommand(
    'watch',
    'show a rollout until it is promoted, and restarts until they are done; exit status 3 when it is rolled back, or they stop',
  )
    .argument('<tag>', 'the tag')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
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

/** @param signal ends it, which is nobody's failure */
async function watchTag(
  client: ApiClient,
  name: string,
  terminal: Terminal,
  output: WatchOptions['output'],
  signal: AbortSignal,
): Promise<void> {
  const show = shower(output, terminal);
  let tag = await findTag(client, name);
  if (tag.spec.strategy?.canary === undefined && !wantsRestarts(tag) && rolloutUnderWay(tag) === undefined) {
    const message = `tag ${name} moves at once, since it has no canary strategy (spec.strategy.canary), and restarts nothing (spec.strategy.restart); \`injector tag list\` shows where it leads`;
    throw new Error(message);
  }
  let wasUnderWay = false;
  while (!signal.aborted) {
    show(tag);
    wasUnderWay ||= rolloutUnderWay(tag) !== undefined;
    const end = rolloutEnd(tag, wasUnderWay);
    if (end !== undefined) {
      if (!end.isWanted) terminal.setExitCode(exitCodes.negative);
      return;
    }
    await sleep(interval, undefined, { signal }).catch(() => undefined);
    tag = (await readAgain(client, name, terminal, signal)) ?? tag;
  }
}

/** The tag as it is now; an API server that is away for a while is waited for. Undefined when interrupted meanwhile. */
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
        throw new Error(`RevisionTag ${name}: somebody has deleted it; \`injector tag set\` creates it again`);
      return tag;
    } catch (error) {
      const isPassing = error instanceof ApiError && (error.code === 0 || error.code === 429 || error.code >= 500);
      if (!isPassing || performance.now() >= end) throw error;
      if (isFirst) terminal.error(`the API server does not answer (${error.message}): trying for ${patience / 1000} s`);
      await sleep(interval, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

/** Escape sequences of ECMA-48, which every terminal has: the cursor goes up so many lines; all below it is erased. */
const up = (lines: number): string => `\u001B[${lines}A`;
const eraseBelow = '\u001B[J';

/** Shows a tag each time that there is something new to show; on a screen as lines that are drawn over those before. */
function shower(output: WatchOptions['output'], terminal: Terminal): (tag: RevisionTag) => void {
  let drawn: readonly string[] = [];
  let before: unknown;
  return (tag) => {
    const screen = terminal.screen();
    const now = new Date();
    if (output === 'text' && screen !== undefined) {
      const lines = drawRollout(tag, screen, now);
      if (isDeepStrictEqual(lines, drawn)) return;
      const back = drawn.length === 0 ? '' : `${up(drawn.length)}\r${eraseBelow}`;
      terminal.out(`${back}${lines.join('\n')}\n`);
      drawn = lines;
      return;
    }
    const after = output === 'json' ? rolloutRecord(tag) : rolloutLine(tag);
    if (isDeepStrictEqual(before, after)) return;
    before = after;
    const time = now.toISOString();
    terminal.out(typeof after === 'string' ? `${time} ${after}\n` : `${JSON.stringify({ time, ...after })}\n`);
  };
}
