import type { Command } from 'commander';
import { revisionOf } from '../../api/injector-config/injector-config.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { checkRights } from '../kill-switch/check-rights.ts';
import { noSuchTag } from './find-tag.ts';
import { describeFollowers, hasFollowers, readFollowers } from './followers.ts';
import { agrees, tagRights } from './precautions.ts';
import { deleteTag } from './write-tag.ts';
import type { Terminal } from '../terminal.ts';
import { type Installation, readInstallation } from '../usage/installation.ts';

interface RemoveOptions extends ClusterOptions {
  readonly skipConfirmation?: true;
}

/** `injector tag remove`: asks first while namespaces or pods follow the tag. */
export function tagRemoveCommand(terminal: Terminal): Command {
  return clusterCommand('remove', 'remove a tag')
    .argument('<tag>', 'the tag')
    .alias('delete')
    .option('-y, --skip-confirmation', 'answer yes to what would be asked')
    .action((name: string, options: RemoveOptions) =>
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
