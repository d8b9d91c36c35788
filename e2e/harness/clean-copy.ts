import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from './paths.ts';

/** Copies the working tree without ignored files into a new folder, as if it were cloned. */
export function cleanCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), 'injector-copy-'));
  const script = 'git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"';
  execFileSync('bash', ['-c', script, folder], { cwd: repository });
  return folder;
}
