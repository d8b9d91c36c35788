/**
 * `make bench [golden folder]`: runs each bench/NAME/main.ts in its own process, in turn. Each
 * run writes docs/measurements/bench-NAME.json. Istio's templates come from the golden folder.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { benchmarks, goldenFolder } from './benchmarks.ts';

const root = join(import.meta.dirname, '..');
const [named] = process.argv.slice(2);
if (named !== undefined && !existsSync(named)) {
  console.error(`folder ${named} does not exist: pass the folder of golden data, or no argument`);
  process.exit(2);
}
const golden = named === undefined ? goldenFolder() : resolve(named);
if (golden === undefined) console.log("there is no folder of golden data, so Istio's templates are not measured");
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
