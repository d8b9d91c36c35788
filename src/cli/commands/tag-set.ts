import { Command } from 'commander';
import { defaultRevision } from '../../api/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { addClusterOptions, withCluster, type ClusterOptions } from '../cluster-options.ts';
import { checkRights } from '../kill-switch/check-rights.ts';
import { parseSeconds } from '../option-values.ts';
import { describeFollowers, hasFollowers, readFollowers } from '../tags/followers.ts';
import { untilBegun, untilInForce } from '../tags/follow-tag.ts';
import { beginsRollout, describeMove, describeStanding } from '../tags/describe-move.ts';
import { describeRestarts } from '../tags/describe-restarts.ts';
import { planTag } from '../tags/plan-tag.ts';
import { agrees, tagRights } from '../tags/precautions.ts';
import { tagManifest, type TagRequest } from '../tags/tag-manifest.ts';
import { writeTag } from '../tags/write-tag.ts';
import type { Terminal } from '../terminal.ts';
import { keysOfTag } from '../usage/installation.ts';
import { readInstallation } from '../usage/read-installation.ts';

interface SetOptions extends ClusterOptions {
  readonly revision: string;
  readonly overwrite?: true;
  readonly skipConfirmation?: true;
  readonly autoInjectNamespaces?: boolean;
  /** Seconds; 0: do not wait. */
  readonly timeout: number;
}

/** `injector tag set`: everything is found out and asked before the one write that creates or moves the tag. */
export function tagSetCommand(terminal: Terminal): Command {
  return addClusterOptions(
    new Command('set').description('create a tag, or move it').argument('<tag>', 'the name that namespaces follow'),
  )
    .requiredOption('-r, --revision <revision>', 'the revision that it leads to')
    .option('--overwrite', 'move the tag if it exists')
    .option('-y, --skip-confirmation', 'answer yes to what would be asked')
    .option('--auto-inject-namespaces', 'with tag default: also pods without any label, in namespaces without any')
    .option('--no-auto-inject-namespaces', 'no longer')
    .option('--timeout <seconds>', 'how long to wait until new pods get the revision (0: not at all)', parseSeconds, 60)
    .action(async (name: string, options: SetOptions) => {
      const { revision, autoInjectNamespaces } = options;
      const request = { name, revision, autoInjectNamespaces };
      // What no cluster would take is told without one.
      tagManifest(request);
      await withCluster(options, (client) => setTag(client, request, options, terminal));
    });
}

async function setTag(client: ApiClient, request: TagRequest, options: SetOptions, terminal: Terminal): Promise<void> {
  const { name, revision } = request;
  await checkRights(client, tagRights('list', 'create', 'patch'));
  const installation = await readInstallation(client);
  const plan = planTag(request, options.overwrite === true, installation);
  if (plan.action === 'refuse') throw new Error(plan.message);
  if (plan.action === 'nothing') {
    terminal.out(`RevisionTag ${name}: ${describeStanding(plan.tag)}\n`);
    return;
  }
  const { tag, before, concerns } = plan;
  const followers = await readFollowers(client, installation, tag);
  if (concerns.length > 0 && !(await agrees(terminal, concerns, options.skipConfirmation === true))) return;

  const written = await writeTag(client, tag, before);
  const isRollout = before !== undefined && beginsRollout(before, revision);
  terminal.out(`RevisionTag ${name}: ${describeMove(tag, before, isRollout)}\n`);
  if (options.timeout > 0) {
    const wait = isRollout ? untilBegun : untilInForce;
    const why = await wait(client, name, written.metadata.generation ?? 0, options.timeout);
    if (why !== undefined) {
      throw new Error(
        `RevisionTag ${name}: not in force after ${options.timeout} s, pods get what they got before: ${why}`,
      );
    }
    terminal.out(isRollout ? 'the rollout is under way\n' : 'new pods get it now\n');
  }
  const restarts = before && describeRestarts(before, isRollout);
  if (isRollout) {
    if (restarts !== undefined) terminal.out(`${restarts}\n`);
    terminal.out(`\`injector tag watch ${name}\` shows it\n`);
    return;
  }
  const keys = keysOfTag(installation, tag);
  const label = name === defaultRevision ? `${keys.injection}=enabled` : `${keys.revision}=${name}`;
  terminal.out(
    hasFollowers(followers)
      ? `it is followed by ${describeFollowers(followers)}; ${restarts ?? 'pods that run already get it when they are restarted'}: \`${restarts === undefined ? 'injector status --stale' : `injector tag watch ${name}`}\`\n`
      : `namespaces follow it by their label: kubectl label namespace NAME ${label}\n`,
  );
}
