/**
 * `make gates [GATE=name]`: runs the long gates in full size. A gate that passes writes its figures
 * to docs/measurements/NAME.json; a gate that fails keeps the old file. `--list` lists the gates.
 */
import { spawn } from 'node:child_process';
import { benchmarks, goldenFolder } from '../bench/benchmarks.ts';
import { writeMeasurement } from '../bench/report.ts';
import { scenarios } from '../e2e/scenarios.ts';

interface Gate {
  readonly name: string;
  readonly about: string;
  readonly command: readonly string[];
  /** The printed lines to record: all, or those that match; without it, gates write their file. */
  readonly keepPrinted?: true | RegExp;
  readonly environment?: Readonly<Record<string, string>>;
}

const golden = goldenFolder();
/** The scenarios that depend most on the API server, for runs with other versions of Kubernetes. */
const ofApiServer = [
  ...['canary-promotes', 'check-agrees', 'istio-templates', 'kill-switch', 'kubesphere-walk', 'label-truth-table'],
  ...['repair', 'resource-validation', 'rotation-under-load', 'seed-walk'],
];
/** The lines of scenarios to record. */
const scenarioFigures = /^using|^[\w-]+: \d+ checks in|passed, /;
const gates: readonly Gate[] = [
  {
    name: 'template-differential',
    about: 'compares 100,000 templates with real Go; takes a minute',
    command: ['scripts/template-differential.ts', '--count=100000'],
    keepPrinted: true,
  },
  {
    name: 'istio-differential',
    about: 'compares 100,000 random pods with Istio’s injector; takes some minutes',
    command: ['scripts/istio-differential.ts', '--count=100000', '--seed=11'],
    keepPrinted: true,
  },
  ...(golden === undefined
    ? []
    : [
        {
          name: 'istio-differential-templates',
          about: 'compares 50,000 random pods with Istio’s injector, on Istio’s templates; takes some minutes',
          command: ['scripts/istio-differential.ts', '--count=50000', `--setups=${golden}/_random/setups`],
          keepPrinted: true as const,
        },
        {
          name: 'in-place-table',
          about: 'counts the changes of Istio’s templates that running pods can get in place; takes a minute',
          command: ['scripts/in-place-table.ts', golden],
          keepPrinted: true as const,
        },
      ]),
  {
    name: 'file-differential',
    about: 'compares 100,000 files with kubectl’s reader before and after inject and uninject; takes some minutes',
    command: ['scripts/file-differential.ts', '--count=100000', '--seed=9000000', '--planted'],
    keepPrinted: true,
  },
  {
    name: 'mutation',
    about: 'the unit tests must kill mutants of the code that mirrors Istio; takes half an hour',
    command: ['scripts/mutation.ts'],
    keepPrinted: true,
  },
  {
    name: 'safe-templates',
    about: 'tests preset Safe with 1,000,000 random templates and hostile authors; takes half an hour',
    command: ['scripts/safe-templates.ts', '--count=1000000', '--planted', '--record'],
  },
  {
    name: 'linear-time',
    about: 'tries hostile texts of growing length on expressions, functions and fields; takes some minutes',
    command: ['scripts/linear-time.ts', '--full'],
    keepPrinted: true,
  },
  {
    name: 'dashboard-page',
    about: 'measures the dashboard in Chromium with 10,000 pods; takes a minute',
    command: ['scripts/dashboard/check.ts'],
    keepPrinted: true,
  },
  {
    name: 'sarif',
    about: 'validates the SARIF of `injector lint` with a public validator, which npm downloads (100 MB)',
    command: ['scripts/check-sarif.ts'],
    keepPrinted: true,
  },
  {
    name: 'ci',
    about: 'runs .ci/run in a clean clone of the last commit, and records what each part takes; 30 minutes',
    command: ['scripts/ci-gate.ts'],
  },
  ...(['1.33', '1.34', '1.35'] as const).map((version) => ({
    name: `as-kubernetes-${version}`,
    about: `runs ten scenarios on an API server that emulates Kubernetes ${version}; takes 3 minutes`,
    command: [version === '1.33' ? 'packaging/image-node.ts' : 'e2e/run.ts', ...ofApiServer],
    environment: { KUBERNETES_EMULATED: version },
    keepPrinted: scenarioFigures,
  })),
  {
    name: 'kubernetes-1.33',
    about: 'runs ten scenarios on Kubernetes 1.33.13; takes 3 minutes, plus a compilation in the first run',
    command: ['e2e/run.ts', ...ofApiServer],
    environment: { KUBERNETES: '1.33' },
    keepPrinted: scenarioFigures,
  },
  ...benchmarks.map(({ name, file }) => ({
    name,
    about: `runs ${file}, as npm run bench does`,
    command: golden === undefined ? [file] : [file, golden],
  })),
  // Every scenario that has a full size is also a gate.
  ...scenarios.flatMap(({ name, full }) =>
    full === undefined ? [] : [{ name, about: full, command: ['e2e/run.ts', '--full', '--record', name] }],
  ),
];

/** Runs a gate and shows its output. Returns the exit status and the printed lines. */
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

const selected = process.argv.slice(2);
const unknown = selected.filter((name) => name !== '--list' && !gates.some((gate) => gate.name === name));
if (unknown.length > 0) {
  console.error(`unknown gate ${unknown.join(', ')}; the gates are ${gates.map(({ name }) => name).join(', ')}`);
  process.exitCode = 2;
} else if (selected.includes('--list')) {
  for (const { name, about } of gates) console.log(`${name.padEnd(24)} ${about}`);
} else {
  const { passed, failed } = await runAll(gates.filter(({ name }) => selected.length === 0 || selected.includes(name)));
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
