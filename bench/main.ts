/** `make bench`: every benchmark, one after the other, in a process each. Figures are ratios measured in one run. */
import { spawnSync } from 'node:child_process';

const benchmarks = ['bench/template/main.ts', 'bench/server/main.ts'];
for (const file of benchmarks) {
  const { status } = spawnSync(process.execPath, ['--import', 'ts-blank-space/register', file], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
