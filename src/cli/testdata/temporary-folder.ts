import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the files of the suite that calls this, gone at its end. */
export function temporaryFolder(): { path: (...names: string[]) => string; write: (name: string, text: string) => string } {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'injector-cli-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const path = (...names: string[]): string => join(folder, ...names);
  const write = (name: string, text: string): string => {
    writeFileSync(path(name), text);
    return path(name);
  };
  return { path, write };
}
