import { closeSync, fchmodSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Replaces files of a folder that belong together. Each file is created under a random name, which
 * an attacker cannot guess, and is then moved to its name. This replaces a link, and does not
 * follow it. All old files are moved aside first, so that a reader never finds a key with another
 * certificate. If something fails, the old files come back. If the process is killed between the
 * moves, the old files are `.NAME.RANDOM.old`, and the new ones `.NAME.RANDOM`.
 * @param files in the order in which they appear; modes do not depend on the umask
 * @param random returns random bytes
 * @throws Error of the file system
 */
export function replaceFiles(
  folder: string,
  files: readonly { readonly name: string; readonly text: string; readonly mode: number }[],
  random: (size: number) => Buffer,
  rename = renameSync,
): void {
  const suffix = random(8).toString('hex');
  const moved = files.map(({ name }) => [join(folder, `.${name}.${suffix}`), join(folder, name)] as const);
  const undo: (() => void)[] = [];
  const move = (from: string, to: string): void => {
    rename(from, to);
    undo.unshift(() => rename(to, from));
  };
  try {
    mkdirSync(folder, { recursive: true });
    for (const [index, { text, mode }] of files.entries()) {
      const created = moved[index]?.[0] ?? '';
      const descriptor = openSync(created, 'wx', mode & 0o600);
      undo.unshift(() => rmSync(created));
      fchmodSync(descriptor, mode);
      writeFileSync(descriptor, text);
      closeSync(descriptor);
    }
    for (const [created, target] of moved.toReversed()) {
      const stats = lstatSync(target, { throwIfNoEntry: false });
      if (stats?.isDirectory() === true) throw new Error(`${target} is a directory; remove it`);
      if (stats !== undefined) move(target, `${created}.old`);
    }
    for (const [created, target] of moved) move(created, target);
  } catch (error) {
    for (const step of undo) step();
    throw error;
  }
  for (const [created] of moved) rmSync(`${created}.old`, { force: true });
}
