import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { join } from 'node:path';

const root = import.meta.dirname;
/** Only the entry of the process may act when it is imported. The page needs a browser. */
const isEntry = (file: string): boolean => file === 'cli/main.ts' || file.startsWith('web/page/');

const modules = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('testdata') && !isEntry(file),
);

/** What would keep a process alive. */
function openResources(): string[] {
  return process.getActiveResourcesInfo().filter((resource) => /Timeout|TCP|TLS|Pipe|FSReq/.test(resource));
}

describe('importing any module', () => {
  it('does nothing but define: no timer, no socket, no file left open', async () => {
    // Mocha's own timer of an asynchronous test exists from the second turn on.
    await setImmediate();
    const before = openResources();
    for (const file of modules) await import(join(root, file));
    assert.deepEqual(openResources(), before);
  });
});
