import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { PlantedMistake } from './planted-mistakes.ts';

const repository = path.join(import.meta.dirname, '../..');
/** What the engine consists of. */
const parts = ['api', 'inject', 'routing', 'selection', 'template'];

/** Below the repository, so that libraries are found. */
const copies = path.join(repository, '.build/safe-templates', String(process.pid));

/** A copy of the engine with a mistake; @returns its folder. @throws Error when the text that it replaces is not there, once */
export function mistakenCopy({ edits, title }: PlantedMistake, index: number): string {
  const folder = path.join(copies, String(index));
  mkdirSync(folder, { recursive: true });
  for (const part of parts) {
    cpSync(path.join(repository, 'src', part), path.join(folder, part), {
      recursive: true,
      filter: (file) => !/\.(?:test\.ts|json)$/.test(file),
    });
  }
  for (const { file, from, to } of edits) {
    const target = path.join(folder, file);
    const text = readFileSync(target, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${title}: ${file} must have the text that is replaced, once`);
    writeFileSync(
      target,
      text.replace(from, () => to),
    );
  }
  return folder;
}

export function removeCopies(): void {
  rmSync(copies, { recursive: true, force: true });
}
