import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanCopy } from '../harness/clean-copy.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { runInShell } from '../harness/shell.ts';
import { none } from '../harness/wait-for.ts';

export const stopwatch: Scenario = {
  name: 'stopwatch',
  about:
    'measures how long make demo and make test take in new clones, how long the program takes to start, and how long an InjectorConfig takes to become Ready',
  full: 'starts with empty caches of Go, npm and this project, 12 minutes',
  onlyGate: true,
  run: async (context) => {
    const [first, second] = [cleanCopy(), cleanCopy()];
    const caches = mkdtempSync(join(tmpdir(), 'injector-caches-'));
    const environment = {
      ...process.env,
      GOCACHE: join(caches, 'go'),
      GOMODCACHE: join(caches, 'modules'),
      GOFLAGS: '-modcacherw',
      npm_config_cache: join(caches, 'npm'),
      XDG_CACHE_HOME: join(caches, 'user'),
      MAKEFLAGS: '',
    };
    const seconds: Record<string, number> = {};
    const time = async (what: string, command: string, folder: string) => {
      const started = Date.now();
      const { code, text } = await runInShell(command, environment, { folder });
      seconds[what] = (Date.now() - started) / 1000;
      await context.checkNow(`${what}: the command succeeds after ${seconds[what].toFixed(1)} s`, () =>
        none(code === 0 ? [] : failuresIn(text)),
      );
      return text;
    };
    try {
      await time('make demo, cold: nothing is compiled, nothing is fetched', 'make demo', first);
      await time('make demo in another clone', 'make demo', second);
      const demo = await time('make demo, once more', 'make demo', second);
      await time('make test', 'make test', second);
      await time('injector version', 'node dist/injector.cjs version', second);
      seconds['InjectorConfig applied until Ready'] = Number(/Ready after ([\d.]+) s/.exec(demo)?.[1]);
    } finally {
      for (const folder of [first, second, caches]) rmSync(folder, { recursive: true, force: true });
    }
    context.measured({ seconds });
    return Object.entries(seconds)
      .map(([what, each]) => `${what}: ${each.toFixed(1)} s`)
      .join('; ');
  },
};

/** Returns the lines of an output that say what failed. */
function failuresIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => /^FAIL|^ {2}\d+\) |^ {6,}\S|failed/.test(line));
  return lines.slice(0, 40);
}
