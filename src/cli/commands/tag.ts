import { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import { tagGenerateCommand } from './tag-generate.ts';
import { tagListCommand } from './tag-list.ts';
import { tagRemoveCommand } from './tag-remove.ts';
import { tagSetCommand } from './tag-set.ts';

/** `injector tag`: names that namespaces follow from revision to revision, as with `istioctl tag`. */
export function tagCommand(terminal: Terminal): Command {
  const tag = new Command('tag').description('names that namespaces follow from revision to revision');
  for (const command of [
    tagSetCommand(terminal),
    tagGenerateCommand(terminal),
    tagListCommand(terminal),
    tagRemoveCommand(terminal),
  ]) {
    tag.addCommand(command);
  }
  return tag;
}
