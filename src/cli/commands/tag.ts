import { Command } from 'commander';
import { rolloutVerbs } from '../../api/rollout-action.ts';
import type { Terminal } from '../terminal.ts';
import { tagActionCommand } from './tag-action.ts';
import { tagGenerateCommand } from './tag-generate.ts';
import { tagListCommand } from './tag-list.ts';
import { tagRemoveCommand } from './tag-remove.ts';
import { tagSetCommand } from './tag-set.ts';
import { tagWatchCommand } from './tag-watch.ts';

/** `injector tag`: names that namespaces follow from revision to revision, as with `istioctl tag`. */
export function tagCommand(terminal: Terminal): Command {
  const tag = new Command('tag').description('names that namespaces follow from revision to revision');
  for (const command of [
    tagSetCommand(terminal),
    tagGenerateCommand(terminal),
    tagListCommand(terminal),
    tagRemoveCommand(terminal),
    tagWatchCommand(terminal),
    ...rolloutVerbs.map((verb) => tagActionCommand(verb, terminal)),
  ]) {
    tag.addCommand(command);
  }
  return tag;
}
