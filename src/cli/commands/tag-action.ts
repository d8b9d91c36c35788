import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { group } from '../../api/injector-config.ts';
import { revisionTagPlural } from '../../api/revision-tag.ts';
import { formatRolloutAction, rolloutActionAnnotation, type RolloutVerb } from '../../api/rollout-action.ts';
import { addClusterOptions, withCluster, type ClusterOptions } from '../cluster-options.ts';
import { checkRights } from '../kill-switch/check-rights.ts';
import { parseSeconds } from '../option-values.ts';
import { followAction } from '../rollout/follow-action.ts';
import { whyNotNow } from '../rollout/why-not-now.ts';
import { findTag, readTag } from '../tags/find-tag.ts';
import { annotateTag } from '../tags/write-tag.ts';
import type { Terminal } from '../terminal.ts';

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
  return addClusterOptions(new Command(verb).description(described[verb]).argument('<tag>', 'the tag'))
    .option('--timeout <seconds>', 'how long to wait for the answer (0: not at all)', parseSeconds, 60)
    .action((name: string, options: ActionOptions) =>
      withCluster(options, async (client) => {
        await checkRights(
          client,
          ['get', 'patch'].map((right) => ({ verb: right, group, resource: revisionTagPlural })),
        );
        const tag = await findTag(client, name);
        const why = whyNotNow(tag, verb);
        if (why !== undefined) throw new Error(`${why}; nothing was changed`);
        const action = { verb, nonce: randomUUID() };
        await annotateTag(client, tag, { [rolloutActionAnnotation]: formatRolloutAction(action) });
        if (options.timeout === 0) {
          terminal.out(`RevisionTag ${name}: asked for ${verb}\n`);
          return;
        }
        const deadline = performance.now() + options.timeout * 1000;
        const { isDone, message } = await followAction({
          action,
          read: () => readTag(client, name),
          pause: async () => {
            await sleep(interval);
            return performance.now() < deadline;
          },
        });
        if (!isDone) throw new Error(`RevisionTag ${name}: ${verb}: ${message}`);
        terminal.out(`RevisionTag ${name}: ${message}\n`);
      }),
    );
}
