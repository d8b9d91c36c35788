import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of both halves of the young generation. Half of it costs a tenth more CPU for collections, twice of it 9 MiB and saves nothing that can be measured. */
const youngGeneration = 8 * 1024 * 1024;
/** The old generation may grow by so many percent before it is collected again: by V8's own choice by up to 300. */
const growth = 20;
/**
 * The thread collects its own garbage without helpers: with them it waits, in every collection, until the kernel has found each a core. On two cores that others use too the 99th
 * percentile of new pods at 70 % load is a third lower without (2.3 and 2.8 ms instead of 3.4 and 4.1). Full collections still mark beside the thread.
 */
const alone = ['--no-parallel-scavenge', '--no-parallel-compaction', '--no-parallel-pointer-update'];
/** Of objects that are made to fill it. It takes about twenty. */
const rounds = 500;

/**
 * Bounds what the collector lets lie about in a process that runs for months: V8's defaults, made for browsers, take 60 MiB of garbage before they look. These are the settings
 * that V8 reads while it runs, so they hold however the process is started; `scripts/bundle/bundle.ts` keeps the young generation at its least until then.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
  growYoungGeneration();
  // V8 shrinks it when there is little to do, and by a factor of 1 it would stay small.
  setInterval(growYoungGeneration, 2000).unref();
  for (const flag of alone) setFlagsFromString(flag);
}

/** Collections that find it too small double it. */
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
 * A function that collects the young generation at once. Nearly all of what loading a configuration makes stays alive: left to V8 it is copied when the young generation is full, which
 * takes 20 ms; after every millisecond of loading it takes one. Node has no other way to ask for it.
 */
export function youngCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'minor' });
}

/** V8's default again, for a command that ends by itself: what it needs, as fast as it can. */
export function leaveHeapToGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}
