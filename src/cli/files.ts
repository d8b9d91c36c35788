import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../kube/api-error.ts';
import { type Terminal, UsageError } from './terminal.ts';

export { messageOf };

/** Reads a file, or standard input for `-`. @throws UsageError naming the option and the file */
export async function readNamedFile(terminal: Terminal, option: string, file: string): Promise<string> {
  return file === '-' ? terminal.readInput() : readFile(option, file);
}

/** Reads a file; `-` has no special meaning. */
export function readFile(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${option} ${file}: ${describeFileError(error)}`, { cause: error });
  }
}

/** Writes to a file, or to standard output for `-` or no file. */
export function writeNamedFile(terminal: Terminal, option: string, file: string | undefined, text: string): void {
  if (file === undefined || file === '-') {
    terminal.out(text);
    return;
  }
  if (/^(?:yaml|json)$/.test(file))
    throw new UsageError(`${option} ${file}: names a file, not a format; use ./${file} for this file name`);
  try {
    writeFileSync(file, text);
  } catch (error) {
    const problem = existsSync(dirname(file)) ? describeFileError(error) : 'its directory does not exist';
    throw new UsageError(`${option} ${file}: ${problem}`, { cause: error });
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'no such file; check the path',
  EISDIR: 'is a directory, not a file',
  EACCES: 'permission denied; change its mode, or name another file',
  ENOTDIR: 'a part of the path is not a directory; check the path',
};

/** Describes a file error for users. */
export function describeFileError(error: unknown): string {
  return reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? messageOf(error);
}
