import { Command, Option } from 'commander';
import { rolloutVerbs } from '../../api/revision-tag/rollout-action.ts';
import type { Terminal } from '../terminal.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import {
  formatNames,
  formatPodCounts,
  type OutputFormat,
  outputOption,
  writeData,
  writeReport,
} from '../report/write-report.ts';
import { formatReadiness, tellHealth } from '../usage/operator-health.ts';
import { readClusterUsage } from '../usage/read-usage.ts';
import { formatRestarts, formatStanding, tagReports } from '../usage/tag-report.ts';
import { tagActionCommand, tagWatchCommand } from './tag-rollout.ts';
import { tagSetCommand, tagUndoCommand } from './tag-set.ts';
import { briefTagManifest, tagManifest } from './plan-tag.ts';
import { revisionOf } from '../../api/injector-config/injector-config.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { describeFollowers, hasFollowers, readFollowers } from './followers.ts';
import { agrees, checkRights, tagRights } from '../precautions.ts';
import { deleteTag, noSuchTag } from './stored-tag.ts';
import { type Installation, readInstallation } from '../usage/installation.ts';

/** `injector tag remove`: asks for confirmation while the tag has followers. */
function tagRemoveCommand(terminal: Terminal): Command {
  return clusterCommand('remove', 'remove a tag')
    .argument('<tag>', 'the tag')
    .alias('delete')
    .option('-y, --skip-confirmation', 'do not ask for confirmation')
    .option('--yes', 'the same')
    .action((name: string, options: ClusterOptions & { readonly skipConfirmation?: true; readonly yes?: true }) => {
      const isAgreed = options.skipConfirmation === true || options.yes === true;
      return withCluster(options, (client) => removeTag(client, name, isAgreed, terminal));
    });
}

async function removeTag(client: ApiClient, name: string, isAgreed: boolean, terminal: Terminal): Promise<void> {
  await checkRights(client, tagRights('list', 'patch', 'delete'));
  const installation = await readInstallation(client);
  const tag = installation.tags.find(({ metadata }) => metadata.name === name);
  if (tag === undefined) throw noSuchTag(name, installation.tags);
  const followers = await readFollowers(client, installation, tag);
  const isUsed = hasFollowers(followers);
  if (isUsed) {
    const concern = `tag ${name} is followed by ${describeFollowers(followers)}: ${consequence(tag, installation)}`;
    if (!(await agrees(terminal, [concern], isAgreed))) return;
  }
  await deleteTag(client, tag, isUsed);
  terminal.out(`RevisionTag ${name}: removed`);
}

/** Describes what happens to the followers of a removed tag. */
function consequence({ metadata: { name } }: RevisionTag, { configs }: Installation): string {
  const successor = name === defaultRevision && configs.find((config) => revisionOf(config) === defaultRevision);
  return successor
    ? `their new pods get InjectorConfig ${successor.metadata.name} instead`
    : 'their new pods start without a sidecar; running pods keep their sidecar until they are restarted';
}

/** `injector tag`: manages tags, as `istioctl tag` does. */
export function tagCommand(terminal: Terminal): Command {
  const tag = new Command('tag')
    .description('manage tags: names that namespaces follow from revision to revision')
    .addCommand(tagSetCommand(terminal))
    .addCommand(tagGenerateCommand(terminal))
    .addCommand(tagListCommand(terminal))
    .addCommand(tagRemoveCommand(terminal))
    .addCommand(tagUndoCommand(terminal))
    .addCommand(tagWatchCommand(terminal));
  return rolloutVerbs.reduce((group, verb) => group.addCommand(tagActionCommand(verb, terminal)), tag);
}

interface GenerateOptions {
  readonly revision: string;
  readonly autoInjectNamespaces?: boolean;
  readonly output: 'yaml' | 'json';
}

/** `injector tag generate`: prints a RevisionTag without a cluster. */
function tagGenerateCommand(terminal: Terminal): Command {
  return new Command('generate')
    .description('print the RevisionTag that `tag set` would apply, without a cluster')
    .argument('<tag>', 'the name of the tag')
    .requiredOption('-r, --revision <revision>', 'the revision of the tag')
    .option('--auto-inject-namespaces', 'with tag default: also inject unlabeled pods in unlabeled namespaces')
    .addOption(outputOption(['yaml', 'json']))
    .addOption(new Option('--overwrite', 'ignored; for compatibility with istioctl').hideHelp())
    .addOption(new Option('-y, --skip-confirmation', 'ignored; for compatibility with istioctl').hideHelp())
    .action((name: string, { revision, autoInjectNamespaces, output }: GenerateOptions) => {
      writeData(terminal, output, briefTagManifest(tagManifest({ name, revision, autoInjectNamespaces })));
    });
}

/** `injector tag list`: lists tags with their revisions and followers. */
function tagListCommand(terminal: Terminal): Command {
  return clusterCommand('list', 'list tags with their revisions, and the namespaces and pods that follow them')
    .addOption(outputOption())
    .action(async (options: ClusterOptions & { readonly output: OutputFormat }) => {
      const { installation, usage } = await readClusterUsage(options);
      tellHealth(terminal, options.output, installation.health);
      const reports = tagReports(installation, usage);
      // Omit the column if no tag has restarts, as in most clusters.
      const hasRestarts = reports.some(({ restarts }) => restarts !== undefined);
      writeReport(terminal, options.output, reports, {
        columns: ['TAG', 'REVISION', 'NAMESPACES', 'PODS', ...(hasRestarts ? ['RESTARTS'] : []), 'READY'],
        row: (report) => [
          report.tag,
          formatStanding(report),
          formatNames(report.namespaces),
          formatPodCounts(report.pods),
          ...(hasRestarts ? [formatRestarts(report)] : []),
          formatReadiness(report),
        ],
        empty: 'there is no RevisionTag',
      });
      for (const note of usage.notes) terminal.error(note);
    });
}
