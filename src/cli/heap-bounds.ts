import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The size in bytes. Half of this size costs 10 % more CPU; twice this size gains nothing. */
const youngGeneration = 8 * 1024 * 1024;
/** The growth of the old generation that starts a collection, in percent. V8 allows up to 300. */
const growth = 20;
/**
 * Disables helper threads of scavenges, because a collection waits until the kernel has a core for
 * each helper. On two shared cores, the 99th percentile of pod creations at 70 % load is a
 * third lower (2.3 and 2.8 ms instead of 3.4 and 4.1). Full collections still mark concurrently.
 */
const withoutHelpers = ['--no-parallel-scavenge', '--no-parallel-compaction', '--no-parallel-pointer-update'];
/** The maximum number of rounds that fill the young generation; about 20 suffice. */
const rounds = 500;

/**
 * Bounds the heap of a process that runs for months: V8's defaults keep 60 MiB of garbage. V8 reads
 * these settings at run time, so they do not depend on the command line; before this call,
 * `scripts/bundle/bundle.ts` keeps the young generation at its minimum.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
  growYoungGeneration();
  // V8 shrinks an idle young generation, which would stay small with a growth factor of 1.
  setInterval(growYoungGeneration, 2000).unref();
  for (const flag of withoutHelpers) setFlagsFromString(flag);
}

/** Allocates objects, because a collection doubles a young generation that is too small. */
function growYoungGeneration(): void {
  if (youngBytes() >= youngGeneration) return;
  setFlagsFromString('--semi-space-growth-factor=2');
  const filling: object[] = [];
  for (let round = 0; round < rounds && youngBytes() < youngGeneration; round++) {
    for (let index = 0; index < 2_000; index++) filling.push({ index });
  }
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Returns a function that collects the young generation immediately. Most objects of a loaded
 * configuration survive, so V8 would copy a full young generation for 20 ms. A collection after
 * each millisecond of loading takes 1 ms. Node has no other interface for such a collection.
 */
export function youngCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'minor' });
}

/**
 * Bounds the garbage of a command that reads large files: V8's defaults keep as much of it as eight
 * times a file. Costs 5 % more CPU than {@link leaveHeapToGrow}.
 */
export function boundGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}

/** Restores V8's default growth for a command that ends soon. */
export function leaveHeapToGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}
