import { isUtf8 } from 'node:buffer';
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
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
  return atFile(`${option} ${file}`, () => readText(file));
}

/** The largest file that is read, in bytes; /dev/zero never ends. */
export const largestInput = 256 * 2 ** 20;

/**
 * Reads at most `most` bytes of a file as UTF-8.
 * @param kind `regular` opens no link and waits for no FIFO, whatever has replaced a listed file
 * @throws Error of the file system, or if the file is larger or of another kind
 */
export function readText(file: string, most = largestInput, kind: 'regular' | 'any' = 'any'): string {
  const descriptor = openSync(file, kind === 'any' ? 'r' : constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (kind === 'regular' && !fstatSync(descriptor).isFile()) throw new Error('is not a regular file');
    const chunks: Buffer[] = [];
    for (let size = 0; size <= most; size += chunks.at(-1)?.length ?? 0) {
      const chunk = Buffer.allocUnsafe(1 << 16);
      const count = readSync(descriptor, chunk);
      if (count === 0) {
        const bytes = Buffer.concat(chunks);
        if (isUtf8(bytes)) return bytes.toString('utf8');
        throw new Error('is not UTF-8 text; convert it, for example with iconv');
      }
      chunks.push(chunk.subarray(0, count));
    }
    throw new Error(`is larger than ${most / 2 ** 20} MiB; split it, or name other files`);
  } finally {
    closeSync(descriptor);
  }
}

/** Acts on a file. @throws UsageError that begins with `place`, e.g. `--filename a.yaml` */
export function atFile<Value>(place: string, act: () => Value): Value {
  try {
    return act();
  } catch (error) {
    throw new UsageError(`${place}: ${describeFileError(error)}`, { cause: error });
  }
}

/** Writes to a file, or to standard output for `-` or no file. */
export function writeNamedFile(terminal: Terminal, option: string, file: string | undefined, text: string): void {
  if (file === undefined || file === '-') {
    terminal.document(text);
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
  ELOOP: 'is a link to itself, or has been replaced by a link; name another file',
  ENOTDIR: 'a part of the path is not a directory; check the path',
};

/** Describes a file error for users. */
export function describeFileError(error: unknown): string {
  return reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? messageOf(error);
}
