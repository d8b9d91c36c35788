/**
 * `make gates [GATE=name]`: the long gates in full size, one after the other. Each writes docs/measurements/NAME.json with the commit, the machine and its figures.
 * A gate that fails leaves its old file as it was. `--list` names them.
 */
import { spawn } from 'node:child_process';
import { benchmarks, goldenFolder } from '../bench/benchmarks.ts';
import { writeMeasurement } from '../bench/report.ts';
import { scenarios } from '../e2e/scenarios.ts';

interface Gate {
  readonly name: string;
  readonly about: string;
  readonly command: readonly string[];
  /** Its measurement is the lines it prints, or those of them that match; other gates write theirs themselves. */
  readonly keepPrinted?: true | RegExp;
  readonly environment?: Readonly<Record<string, string>>;
}

const golden = goldenFolder();
const gates: readonly Gate[] = [
  {
    name: 'template-differential',
    about: '100,000 templates against real Go, a minute',
    command: ['scripts/template-differential.ts', '--count=100000'],
    keepPrinted: true,
  },
  {
    name: 'istio-differential',
    about: '100,000 random pods against Istio’s own injector, some minutes',
    command: ['scripts/istio-differential.ts', '--count=100000', '--seed=11'],
    keepPrinted: true,
  },
  ...(golden === undefined
    ? []
    : [
        {
          name: 'istio-differential-templates',
          about: '50,000 random pods against Istio’s own injector with its own templates, some minutes',
          command: ['scripts/istio-differential.ts', '--count=50000', `--setups=${golden}/_random/setups`],
          keepPrinted: true as const,
        },
      ]),
  {
    name: 'mutation',
    about: 'small mistakes in what mirrors Istio, which the unit tests must notice, half an hour',
    command: ['scripts/mutation.ts'],
    keepPrinted: true,
  },
  {
    name: 'safe-templates',
    about: '1,000,000 random templates with hostile authors against preset Safe, half an hour',
    command: ['scripts/safe-templates.ts', '--count=1000000', '--planted', '--record'],
  },
  {
    name: 'linear-time',
    about: 'every expression, function and field with hostile texts of growing length, some minutes',
    command: ['scripts/linear-time.ts', '--full'],
    keepPrinted: true,
  },
  {
    name: 'kubernetes-1.33',
    about: 'the core scenarios on Kubernetes 1.33.13, which takes minutes to compile once, then 3 minutes',
    command: ['e2e/run.ts', '--core'],
    environment: { KUBERNETES: '1.33' },
    keepPrinted: /^using|^[\w-]+: \d+ checks in|passed, /,
  },
  ...benchmarks.map(({ name, file }) => ({
    name,
    about: `${file}, as in npm run bench`,
    command: golden === undefined ? [file] : [file, golden],
  })),
  // Every scenario that has a full size is a gate.
  ...scenarios.flatMap(({ name, full }) =>
    full === undefined ? [] : [{ name, about: full, command: ['e2e/run.ts', '--full', '--record', name] }],
  ),
];

/** Runs one gate with its output shown; its exit status and what it printed. */
async function run(gate: Gate): Promise<{ code: number; lines: string[] }> {
  const child = spawn(process.execPath, [...process.execArgv, ...gate.command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...gate.environment },
  });
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

async function runAll(chosen: readonly Gate[]): Promise<{ passed: number; failed: number }> {
  const total = { passed: 0, failed: 0 };
  for (const gate of chosen) {
    console.log(`gate ${gate.name}: ${gate.about}`);
    const started = Date.now();
    const { code, lines } = await run(gate);
    const seconds = Math.round((Date.now() - started) / 1000);
    if (code === 0) {
      total.passed++;
      const { keepPrinted } = gate;
      const kept = lines.filter((line) => keepPrinted === true || keepPrinted?.test(line));
      if (keepPrinted !== undefined) writeMeasurement(gate.name, { seconds, printed: kept });
    } else {
      total.failed++;
    }
    console.log(`${code === 0 ? 'ok   ' : 'FAIL '} ${gate.name} (${seconds} s)`);
  }
  return total;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => name !== '--list' && !gates.some((gate) => gate.name === name));
if (unknown.length > 0) {
  console.error(`no such gate: ${unknown.join(', ')}; there are ${gates.map(({ name }) => name).join(', ')}`);
  process.exitCode = 2;
} else if (wanted.includes('--list')) {
  for (const { name, about } of gates) console.log(`${name.padEnd(24)} ${about}`);
} else {
  const { passed, failed } = await runAll(gates.filter(({ name }) => wanted.length === 0 || wanted.includes(name)));
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
