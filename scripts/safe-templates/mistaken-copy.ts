import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A deliberate mistake, which replaces a text that must occur once in a file of src. */
export type PlantedMistake = Readonly<Record<'title' | 'file' | 'from' | 'to', string>>;

const repository = path.join(import.meta.dirname, '../..');
/** A folder in the repository, so that Node finds the libraries. */
const copies = path.join(repository, '.build/mistaken-copies', String(process.pid));

/**
 * Copies parts of src with a mistake. Returns the folder.
 * @throws Error if the text to replace does not occur once
 */
export function mistakenCopy(
  { title, file, from, to }: PlantedMistake,
  index: number,
  parts: readonly string[],
): string {
  const folder = path.join(copies, String(index));
  mkdirSync(folder, { recursive: true });
  for (const part of parts) {
    cpSync(path.join(repository, 'src', part), path.join(folder, part), {
      recursive: true,
      filter: (source) => !/\.test\.ts$/.test(source),
    });
  }
  const target = path.join(folder, file);
  const halves = readFileSync(target, 'utf8').split(from);
  if (halves.length !== 2) throw new Error(`${title}: the text to replace must occur once in ${file}`);
  writeFileSync(target, halves.join(to));
  return folder;
}

export function removeCopies(): void {
  rmSync(copies, { recursive: true, force: true });
}
