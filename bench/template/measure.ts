import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Returns the CPU microseconds per execution, including compiler and collector threads: the median
 * of batches that use `seconds` of CPU time in total. Other processes do not affect CPU time.
 */
export function microsecondsOf(run: () => unknown, seconds: number): number {
  const times: number[] = [];
  const begun = cpuMicroseconds();
  for (let batch = 1; cpuMicroseconds() < begun + seconds * 1_000_000; batch = Math.min(batch * 2, 50)) {
    const started = cpuMicroseconds();
    for (let index = 0; index < batch; index += 1) run();
    times.push((cpuMicroseconds() - started) / batch);
  }
  return median(times);
}

function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Returns the bytes allocated per execution: the heap's growth between garbage collections. */
export function bytesOf(run: () => unknown): number {
  const batch = 20;
  const bytes = Array.from({ length: 20 }, () => {
    collectGarbage();
    const heap = process.memoryUsage().heapUsed;
    for (let index = 0; index < batch; index += 1) run();
    return (process.memoryUsage().heapUsed - heap) / batch;
  });
  return median(bytes.filter((value) => value > 0));
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
