import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder for the files of the calling suite, and removes it afterwards. */
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
