/**
 * `make gates [GATE=name]`: the long gates in full size, one after the other. Each writes docs/measurements/NAME.json with the commit, the machine and the figures of its last line.
 * A gate that fails leaves its old file as it was.
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

interface Gate {
  readonly name: string;
  readonly command: readonly string[];
}

const typescript = ['--import', 'ts-blank-space/register'];
const gates: readonly Gate[] = [
  { name: 'template-differential', command: [...typescript, 'scripts/template-differential.ts', '--count=100000'] },
  { name: 'bench-template', command: [...typescript, 'bench/template/main.ts'] },
  { name: 'bench-server', command: [...typescript, 'bench/server/main.ts'] },
];

/** Runs one gate with its output shown; its exit status and what it printed. */
async function run(gate: Gate): Promise<{ code: number; lines: string[] }> {
  const child = spawn(process.execPath, gate.command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  const code = await new Promise<number>((resolve) => {
    child.on('close', (status) => {
      resolve(status ?? 1);
    });
  });
  return { code, lines: output.split('\n').filter((line) => line !== '') };
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !gates.some((gate) => gate.name === name));
if (unknown.length > 0) {
  console.error(`no such gate: ${unknown.join(', ')}; there are ${gates.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const commit = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memoryBytes: totalmem(), node: process.version };
let [passed, failed] = [0, 0];
for (const gate of gates.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`gate ${gate.name}`);
  const started = Date.now();
  const { code, lines } = await run(gate);
  if (code !== 0) {
    failed++;
    console.log(`FAIL  ${gate.name}`);
    continue;
  }
  passed++;
  const seconds = Math.round((Date.now() - started) / 1000);
  const measurement = { gate: gate.name, commit, date: new Date().toISOString(), machine, seconds, printed: lines };
  const file = join(import.meta.dirname, '..', 'docs', 'measurements', `${gate.name}.json`);
  writeFileSync(file, `${JSON.stringify(measurement, null, 2)}\n`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
