/**
 * Measures the injection of one new pod without a server: CPU time in total and by phase,
 * allocations, growth with the size of the pod, and the first pods after a start.
 *
 *     node --import ./scripts/typescript/register.js bench/engine/main.ts [folder of golden data]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadInjector, type Injector } from '../../src/inject/injector.ts';
import { type Figures, writeMeasurement } from '../report.ts';
import { setup } from './configurations.ts';
import { phaseOf } from './phases.ts';
import { injectAll, parsePods } from './injections.ts';
import { neverSeen, newPods, sizedPods, type PodMaker } from './pods.ts';
import { profileRun } from './profile.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the CPU milliseconds of all threads, including compiler and garbage collector. */
function cpuMilliseconds(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

/** Returns the CPU milliseconds per pod: the median of all rounds. */
function measure(injector: Injector, pods: PodMaker, count: number, rounds = 9): number {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const batch = parsePods(pods, count);
    times.push(
      cpuMilliseconds(() => {
        injectAll(injector, batch);
      }) / count,
    );
  }
  return median(times);
}

/** Returns the allocated bytes per pod: the growth of the heap between garbage collections. */
function allocated(injector: Injector, pods: PodMaker): number {
  const batch = 10;
  const bytes = Array.from({ length: 15 }, () => {
    const list = parsePods(pods, batch);
    collectGarbage();
    const heap = process.memoryUsage().heapUsed;
    injectAll(injector, list);
    return (process.memoryUsage().heapUsed - heap) / batch;
  });
  return median(bytes.filter((value) => value > 0));
}

async function report(title: string, injector: Injector, pods: PodMaker): Promise<Figures> {
  measure(injector, pods, 300, 4);
  const milliseconds = measure(injector, pods, 300);
  const bytes = allocated(injector, pods);
  console.log(`${title}: ${milliseconds.toFixed(3)} ms CPU, ${Math.round(bytes / 1024)} KiB allocated per pod`);
  const batch = parsePods(pods, 2000);
  const shares = await profileRun(() => {
    injectAll(injector, batch);
  }, phaseOf);
  const phases: Record<string, number> = {};
  const total = [...shares.values()].reduce((sum, value) => sum + value, 0);
  for (const [phase, spent] of [...shares].sort((left, right) => right[1] - left[1])) {
    phases[phase] = (milliseconds * spent) / total;
    const share = ((100 * spent) / total).toFixed(1).padStart(5);
    console.log(`  ${phase.padEnd(34)} ${((milliseconds * spent) / total).toFixed(3).padStart(7)} ms ${share} %`);
  }
  return { cpuMilliseconds: milliseconds, allocatedBytes: bytes, phasesMilliseconds: phases };
}

/** Fits milliseconds = fixed + each * size by least squares; `explained` is R². */
function fitLine(points: readonly (readonly [number, number])[]): { fixed: number; each: number; explained: number } {
  const n = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n;
  const each =
    points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) /
    points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const fixed = meanY - each * meanX;
  const residual = points.reduce((sum, [x, y]) => sum + (y - fixed - each * x) ** 2, 0);
  return { fixed, each, explained: 1 - residual / points.reduce((sum, [, y]) => sum + (y - meanY) ** 2, 0) };
}

function growth(
  title: string,
  injector: Injector,
  sizes: readonly number[],
  pods: (size: number) => PodMaker,
): Figures {
  const points = sizes.map((size) => {
    measure(injector, pods(size), 60, 2);
    return [size, measure(injector, pods(size), 60, 7)] as const;
  });
  const { fixed, each, explained } = fitLine(points);
  console.log(
    `${title}: ${points.map(([size, milliseconds]) => `${size}: ${milliseconds.toFixed(3)}`).join(', ')} ms; ` +
      `${fixed.toFixed(3)} ms + ${(each * 1000).toFixed(2)} µs each, R² ${explained.toFixed(4)}`,
  );
  return { points, fixedMilliseconds: fixed, eachMicroseconds: each * 1000, explained };
}

const [golden] = process.argv.slice(2);
const { files, review } = setup(golden);
console.log(golden === undefined ? 'our own templates' : "Istio's default set-up, the pod of review.json");

const loading = cpuMilliseconds(() => loadInjector(files));
const injector = loadInjector(files);
const cold = [1, 9, 90, 900].map((count) => {
  const batch = parsePods(neverSeen(review), count);
  return `${(
    cpuMilliseconds(() => {
      injectAll(injector, batch);
    }) / count
  ).toFixed(2)} (${count})`;
});
/** Measures and prints the cache hits per pod. No text from a pod never seen may cause a hit. */
async function cacheHits(): Promise<Figures> {
  const child = fork(join(import.meta.dirname, 'cache-hits.ts'), golden === undefined ? [] : [golden]);
  const [hits] = (await once(child, 'message')) as [Record<string, Record<string, number>>];
  for (const [pods, counts] of Object.entries(hits)) {
    const each = Object.entries(counts).map(([cache, times]) => `${cache} ${times.toFixed(2)}`);
    console.log(`${pods}: cache hits per pod: ${each.join(', ')}`);
  }
  return hits;
}

console.log(`loading took ${loading.toFixed(0)} ms; milliseconds of the first pods: ${cold.join(', ')}`);
const figures: Figures = {
  templates: golden === undefined ? 'our own' : "Istio's default set-up",
  loadingMilliseconds: loading,
  newPods: await report('new pods of one workload', injector, newPods(review)),
  neverSeen: await report('pods never seen', injector, neverSeen(review)),
  cacheHits: await cacheHits(),
  containers: growth('containers of 5 variables', injector, [1, 5, 10, 20, 35, 50], (size) => sizedPods(size, 5)),
  variables: growth('variables of 1 container', injector, [1, 100, 500, 1000, 1500, 2000], (size) =>
    sizedPods(1, size),
  ),
};
console.log(`wrote ${writeMeasurement('bench-engine', figures)}`);
