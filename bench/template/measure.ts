import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Microseconds an execution: the median of batches within so many seconds, so that collections of garbage and other processes disturb little. */
export function microsecondsOf(run: () => unknown, seconds: number): number {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  for (let batch = 1; performance.now() < end; batch = Math.min(batch * 2, 50)) {
    const started = performance.now();
    for (let index = 0; index < batch; index += 1) run();
    times.push(((performance.now() - started) * 1000) / batch);
  }
  return median(times);
}

/** Bytes an execution: what the heap grows by while nothing is collected. */
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
