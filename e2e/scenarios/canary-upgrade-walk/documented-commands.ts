import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../harness/paths.ts';

/** The commands of a page in docs/: the lines of its code blocks that begin with `$ `, in their order. */
export function documentedCommands(page: string): string[] {
  const lines = readFileSync(join(repository, 'docs', page), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
}
