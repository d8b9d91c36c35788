import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A program that prints its measurements, and writes docs/measurements/NAME.json. */
export interface Benchmark {
  /** The name, such as `bench-server` for bench/server. */
  readonly name: string;
  /** The path from the root of the repository. */
  readonly file: string;
}

/** All benchmarks: the folders of bench/ that contain a main.ts. */
export const benchmarks: readonly Benchmark[] = readdirSync(import.meta.dirname)
  .sort()
  .filter((folder) => existsSync(join(import.meta.dirname, folder, 'main.ts')))
  .map((folder) => ({ name: `bench-${folder}`, file: `bench/${folder}/main.ts` }));

/** Returns the folder of golden data (Istio's behaviour) beside the repository, if it exists. */
export function goldenFolder(): string | undefined {
  const folder = join(import.meta.dirname, '..', '..', 'shared', 'golden');
  return existsSync(folder) ? folder : undefined;
}
