import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { rolloutVerbs } from '../../api/revision-tag/rollout-action.ts';
import type { Terminal } from '../terminal.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { formatNames, formatPodCounts, type OutputFormat, outputOption, writeReport } from '../report/write-report.ts';
import { tellHealth } from '../report/tell-health.ts';
import { readClusterUsage } from '../usage/read-usage.ts';
import { formatReadiness } from '../usage/readiness.ts';
import { formatRestarts, formatStanding, tagReports } from '../usage/tag-report.ts';
import { tagActionCommand } from './tag-action.ts';
import { tagSetCommand } from './tag-set.ts';
import { tagWatchCommand } from './tag-watch.ts';
import { briefTagManifest, tagManifest } from './tag-manifest.ts';
import { revisionOf } from '../../api/injector-config/injector-config.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { checkRights } from '../kill-switch/check-rights.ts';
import { noSuchTag } from './find-tag.ts';
import { describeFollowers, hasFollowers, readFollowers } from './followers.ts';
import { agrees, tagRights } from './precautions.ts';
import { deleteTag } from './write-tag.ts';
import { type Installation, readInstallation } from '../usage/installation.ts';

/** `injector tag remove`: asks first while namespaces or pods follow the tag. */
function tagRemoveCommand(terminal: Terminal): Command {
  return clusterCommand('remove', 'remove a tag')
    .argument('<tag>', 'the tag')
    .alias('delete')
    .option('-y, --skip-confirmation', 'answer yes to what would be asked')
    .action((name: string, options: ClusterOptions & { readonly skipConfirmation?: true }) =>
      withCluster(options, (client) => removeTag(client, name, options.skipConfirmation === true, terminal)),
    );
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
  terminal.out(`RevisionTag ${name}: removed\n`);
}

/** What becomes of the pods that follow a tag when it is gone. */
function consequence({ metadata: { name } }: RevisionTag, { configs }: Installation): string {
  const heir = name === defaultRevision && configs.find((config) => revisionOf(config) === defaultRevision);
  return heir
    ? `their new pods get InjectorConfig ${heir.metadata.name} instead`
    : 'their new pods start without an injector; those that run keep what they have until they are restarted';
}

/** `injector tag`: names that namespaces follow from revision to revision, as with `istioctl tag`. */
export function tagCommand(terminal: Terminal): Command {
  const tag = new Command('tag')
    .description('names that namespaces follow from revision to revision')
    .addCommand(tagSetCommand(terminal))
    .addCommand(tagGenerateCommand(terminal))
    .addCommand(tagListCommand(terminal))
    .addCommand(tagRemoveCommand(terminal))
    .addCommand(tagWatchCommand(terminal));
  return rolloutVerbs.reduce((group, verb) => group.addCommand(tagActionCommand(verb, terminal)), tag);
}

interface GenerateOptions {
  readonly revision: string;
  readonly autoInjectNamespaces?: boolean;
  readonly output: 'yaml' | 'json';
}

/** `injector tag generate`: the RevisionTag for a repository. It asks no cluster: what a cluster would refuse, it refuses when it is applied. */
function tagGenerateCommand(terminal: Terminal): Command {
  return new Command('generate')
    .description('print the RevisionTag that `tag set` would apply; needs no cluster')
    .argument('<tag>', 'the name that namespaces follow')
    .requiredOption('-r, --revision <revision>', 'the revision that it leads to')
    .option('--auto-inject-namespaces', 'with tag default: also pods without any label, in namespaces without any')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .addOption(new Option('--overwrite', 'nothing is written, so it means nothing; istioctl has it').hideHelp())
    .addOption(new Option('-y, --skip-confirmation', 'nothing is asked; istioctl has it').hideHelp())
    .action((name: string, { revision, autoInjectNamespaces, output }: GenerateOptions) => {
      const manifest = briefTagManifest(tagManifest({ name, revision, autoInjectNamespaces }));
      terminal.out(output === 'json' ? `${JSON.stringify(manifest, undefined, 2)}\n` : stringify(manifest));
    });
}

/** `injector tag list`: where each tag leads, and what follows it. */
function tagListCommand(terminal: Terminal): Command {
  return clusterCommand('list', 'tags, where they lead, and what follows them')
    .addOption(outputOption())
    .action(async (options: ClusterOptions & { readonly output: OutputFormat }) => {
      const { installation, usage } = await readClusterUsage(options);
      tellHealth(terminal, options.output, installation.health);
      const reports = tagReports(installation, usage);
      // A column that most clusters would never fill.
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
