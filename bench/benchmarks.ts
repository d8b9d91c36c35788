import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A program that measures something, prints it and writes docs/measurements/NAME.json with `writeMeasurement`. */
export interface Benchmark {
  /** `bench-server` for bench/server. */
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
}

/** Every folder here that has a main.ts. */
export const benchmarks: readonly Benchmark[] = readdirSync(import.meta.dirname)
  .sort()
  .filter((folder) => existsSync(join(import.meta.dirname, folder, 'main.ts')))
  .map((folder) => ({ name: `bench-${folder}`, file: `bench/${folder}/main.ts` }));

/** The recorded behaviour of Istio, for the benchmarks that also measure its templates: beside the repository, if it is at hand. */
export function goldenFolder(): string | undefined {
  const folder = join(import.meta.dirname, '..', '..', 'shared', 'golden');
  return existsSync(folder) ? folder : undefined;
}
