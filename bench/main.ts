/**
 * `make bench [golden folder]`: every benchmark (bench/NAME/main.ts), one after the other, in a process each. Figures are ratios measured in one run; each benchmark
 * keeps them in docs/measurements/bench-NAME.json. Benchmarks that can also measure Istio's own templates find them in the folder of golden data, if it is at hand.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { benchmarks, goldenFolder } from './benchmarks.ts';

const root = join(import.meta.dirname, '..');
const [named] = process.argv.slice(2);
if (named !== undefined && !existsSync(named)) {
  console.error(`there is no folder ${named}: name the folder of golden data, or nothing`);
  process.exit(2);
}
const golden = named === undefined ? goldenFolder() : resolve(named);
if (golden === undefined) console.log("no folder of golden data: Istio's own templates are left out");
const outcomes = benchmarks.map(({ name, file }) => {
  console.log(`\n${name}`);
  const started = Date.now();
  const command = [...process.execArgv, file, ...(golden === undefined ? [] : [golden])];
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' });
  return { name, seconds: Math.round((Date.now() - started) / 1000), passed: status === 0 };
});
console.log('');
for (const { name, seconds, passed } of outcomes) console.log(`${passed ? 'ok   ' : 'FAIL '} ${name} (${seconds} s)`);
if (!outcomes.every(({ passed }) => passed)) process.exitCode = 1;
