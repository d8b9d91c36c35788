import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../kube/api-error.ts';
import { type Terminal, UsageError } from './terminal.ts';

export { messageOf };

/**
 * Reads a file named on the command line; `-` is standard input.
 * @throws UsageError naming the option, the file and what is wrong with it.
 */
export async function readNamedFile(terminal: Terminal, option: string, file: string): Promise<string> {
  return file === '-' ? terminal.readInput() : readFile(option, file);
}

/** The same where standard input is not meant. */
export function readFile(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${option} ${file}: ${describeFileError(error)}`, { cause: error });
  }
}

/** Writes to the file, or to standard output when there is none (or `-`). */
export function writeNamedFile(terminal: Terminal, option: string, file: string | undefined, text: string): void {
  if (file === undefined || file === '-') {
    terminal.out(text);
    return;
  }
  if (/^(?:yaml|json)$/.test(file))
    throw new UsageError(`${option} ${file}: names a file here; ./${file} if that is meant`);
  try {
    writeFileSync(file, text);
  } catch (error) {
    const problem = existsSync(dirname(file)) ? describeFileError(error) : 'its directory does not exist';
    throw new UsageError(`${option} ${file}: ${problem}`, { cause: error });
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'no such file; check the path',
  EISDIR: 'is a directory, a file is needed',
  EACCES: 'permission denied; change its mode, or name another file',
  ENOTDIR: 'a part of the path is not a directory; check the path',
};

/** What is wrong with a file, in words. */
export function describeFileError(error: unknown): string {
  return reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? messageOf(error);
}
