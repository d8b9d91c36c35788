/**
 * Measures cache hits per pod from V8's execution counts (Profiler.startPreciseCoverage), and sends
 * them to the parent, bench/engine/main.ts. V8 counts blocks only in functions that it compiles
 * after counting starts, so counting must start before the first injection.
 */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { loadInjector } from '../../src/inject/injector.ts';
import { safe, setup } from './configurations.ts';
import { injectAll, parsePods } from './injections.ts';
import { neverSeen, newPods, type PodMaker } from './pods.ts';

/** Statements that the engine executes only on a hit of the cache. */
const hits: readonly (readonly [cache: string, file: string, statement: string])[] = [
  ['statements', 'src/template/exec/remembered-list.ts', 'execution.note(memory.slots);'],
  ['texts', 'src/inject/render/template-outputs.ts', 'return this.#last;'],
  ['texts', 'src/inject/render/template-outputs.ts', 'this.#last = known;'],
  ['comparisons', 'src/inject/safety/check-author-texts.ts', 'return known;'],
];

type Hits = Record<string, number>;

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** Returns the hits since the last call. */
async function hitsSince(): Promise<Hits> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const counts: Hits = {};
  for (const [cache, file, statement] of hits) {
    const path = join(import.meta.dirname, '../..', file);
    const offset = readFileSync(path, 'utf8').indexOf(statement);
    if (offset < 0) throw new Error(`${file} does not contain \`${statement}\``);
    const script = result.find(({ url }) => url === pathToFileURL(path).href);
    // The innermost range that contains the statement has the count of its executions.
    const [innermost] = (script?.functions ?? [])
      .flatMap(({ ranges }) => ranges)
      .filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
      .sort((left, right) => left.endOffset - left.startOffset - (right.endOffset - right.startOffset));
    counts[cache] = (counts[cache] ?? 0) + (innermost?.count ?? 0);
  }
  return counts;
}

const count = 500;

async function measure(files: ConfigurationFiles, pods: PodMaker): Promise<Hits> {
  const injector = loadInjector(files);
  injectAll(injector, parsePods(pods, count));
  await hitsSince();
  injectAll(injector, parsePods(pods, count));
  const hitsOfPods = await hitsSince();
  return Object.fromEntries(Object.entries(hitsOfPods).map(([cache, times]) => [cache, times / count]));
}

const { files, review } = setup(process.argv[2]);
process.send?.({
  'new pods of one workload': await measure(files, newPods(review)),
  'new pods of one workload, preset Safe': await measure(safe(files), newPods(review)),
  'pods never seen': await measure(files, neverSeen(review)),
  'pods never seen, preset Safe': await measure(safe(files), neverSeen(review)),
});
process.disconnect();
