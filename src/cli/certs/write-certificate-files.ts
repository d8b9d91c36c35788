import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeFileError } from '../files.ts';
import { UsageError } from '../usage-error.ts';
import type { CreatedCertificates } from './create-certificates.ts';

/** The order in which a server that follows the files may see them change: the authority concerns only whoever calls it. */
const files = [
  ['ca.crt', 0o644],
  ['tls.key', 0o600],
  ['tls.crt', 0o644],
] as const;

/**
 * Writes the three files, each whole (a reader never meets half of one); the key is for its owner alone.
 * @throws UsageError when one is there and `overwrite` is not given, or the directory cannot be written; nothing is written in the first case.
 */
export function writeCertificateFiles(directory: string, created: CreatedCertificates, overwrite: boolean): void {
  const present = files.map(([name]) => join(directory, name)).filter((file) => existsSync(file));
  if (present.length > 0 && !overwrite) {
    throw new UsageError(
      `--out ${directory}: ${present.join(', ')} would be overwritten; name another directory, or say --force (and --previous, to keep what is trusted now)`,
    );
  }
  try {
    mkdirSync(directory, { recursive: true });
    for (const [name, mode] of files) {
      const file = join(directory, name);
      writeFileSync(`${file}.new`, created[name], { mode });
      renameSync(`${file}.new`, file);
    }
  } catch (error) {
    throw new UsageError(`--out ${directory}: ${describeFileError(error)}`, { cause: error });
  }
}
