import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { atFile, largestInput, readNamedFile, readText } from './files.ts';
import { type Terminal, UsageError } from './terminal.ts';

/** A file and its content. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
  /** The user named its folder, and not the file. */
  readonly isListed?: true;
}

/** Bounds for the files below a folder, because the author of a pull request chooses them. */
export const folderBounds = { files: 100_000, depth: 64, fileBytes: 16 * 2 ** 20, bytes: largestInput };
type FolderBounds = typeof folderBounds;

export const isManifest = (name: string): boolean => /\.(ya?ml|json)$/.test(name);

/**
 * Reads files, and the YAML and JSON files below folders in the order of their names. Below a
 * folder, each regular file is read once: links that leave the folder, and files such as FIFOs and
 * devices, are skipped and named on standard error. A file that is named itself may be anything.
 * @throws UsageError naming the flag, the file and what to do
 */
export async function* readFiles(
  terminal: Terminal,
  flag: string,
  names: readonly string[],
  bounds: FolderBounds = folderBounds,
): AsyncGenerator<NamedText> {
  for (const name of names) {
    const folder = name === '-' ? undefined : targetOf(name);
    if (folder?.stats.isDirectory() === true) yield* readFolder(terminal, flag, name, folder.path, bounds);
    else yield { name, text: await readNamedFile(terminal, flag, name) };
  }
}

function* readFolder(terminal: Terminal, flag: string, folder: string, root: string, bounds: FolderBounds) {
  const place = (below: string): string => `${flag} ${join(folder, below)}`;
  const { files, skipped } = listFolder(place, root, bounds.depth);
  for (const each of skipped.slice(0, 10)) terminal.error(`${place('')}: skipped ${each}`);
  if (skipped.length > 10) terminal.error(`${place('')}: skipped ${skipped.length - 10} more`);
  const refuse = (problem: string): void => {
    throw new UsageError(`${place('')}: the folder contains ${problem}`);
  };
  if (files.size === 0) refuse('no YAML or JSON files');
  if (files.size > bounds.files) refuse(`more than ${bounds.files} YAML and JSON files; name fewer folders or files`);
  let size = 0;
  for (const [path, below] of [...files].sort(([, one], [, other]) => (one < other ? -1 : 1))) {
    const text = atFile(place(below), () => readText(path, bounds.fileBytes, 'regular'));
    size += Buffer.byteLength(text);
    if (size > bounds.bytes) refuse(`more than ${bounds.bytes / 2 ** 20} MiB of YAML and JSON; name fewer files`);
    yield { name: join(folder, below), text, isListed: true as const };
  }
}

/**
 * Lists the names of the files to read, by real path, and the skipped names with a reason. Walks
 * only real folders, each once: a link to a folder below `root` adds no file to these.
 */
function listFolder(place: (below: string) => string, root: string, most: number) {
  const files = new Map<string, string>();
  const others: string[] = [];
  const visit = (folder: string, depth: number): void => {
    if (depth > most) throw new UsageError(`${place(folder)}: is more than ${most} folders deep; name fewer folders`);
    for (const entry of atFile(place(folder), () => readdirSync(join(root, folder), { withFileTypes: true }))) {
      const name = join(folder, entry.name);
      if (entry.isDirectory()) visit(name, depth + 1);
      else if (!entry.isFile()) others.push(name);
      else if (isManifest(name)) files.set(join(root, name), name);
    }
  };
  visit('', 0);
  const skipped: string[] = [];
  for (const name of others.sort()) {
    const target = targetOf(join(root, name));
    const isFolder = target?.stats.isDirectory() === true;
    // A file with another name is not read, but a folder with any name would be.
    if (!isFolder && !isManifest(name)) continue;
    const skip = (reason: string): unknown => skipped.push(`${JSON.stringify(name)}: ${reason}`);
    if (target === undefined) skip('a link without a target; correct or remove it');
    else if (!join(target.path, sep).startsWith(join(root, sep)))
      skip('a link that leaves the folder; name its target to read it');
    else if (target.stats.isFile()) files.set(target.path, files.get(target.path) ?? name);
    else if (!isFolder) skip('not a regular file; name it to read it');
  }
  return { files, skipped };
}

/** Resolves all links of a path. Returns undefined if they lead nowhere, or to themselves. */
function targetOf(file: string): { readonly path: string; readonly stats: Stats } | undefined {
  try {
    // `realpathSync` resolves `..` before links, unlike the system.
    const path = realpathSync.native(file);
    return { path, stats: statSync(path) };
  } catch {
    return undefined;
  }
}
