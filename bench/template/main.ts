/**
 * Microseconds and bytes per execution of a sidecar-sized template, here and in Go on the same machine in the same run, and how the time
 * grows with the template and its output.
 *
 *     node --import ts-blank-space/register bench/template/main.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { functionsOfFamily } from '../../src/template/function-families.ts';
import { compileTemplate } from '../../src/template/template.ts';
import { data } from './data.ts';

interface Measurement {
  readonly microseconds: number;
  readonly bytes: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const functions = functionsOfFamily('istio');
const text = readFileSync(path.join(import.meta.dirname, 'sidecar.tmpl'), 'utf8');

/** The median of batches, so that collections of garbage and other processes disturb little. */
function measure(run: () => string, seconds: number): Measurement {
  const times: number[] = [];
  const batch = 50;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const started = performance.now();
    for (let index = 0; index < batch; index += 1) run();
    times.push(((performance.now() - started) * 1000) / batch);
  }
  return { microseconds: median(times), bytes: allocated(run) };
}

/** Bytes per execution: what the heap grows by while nothing is collected. */
function allocated(run: () => string): number {
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

function measureGo(): Measurement & { readonly parseMicroseconds: number } {
  const folder = mkdtempSync(path.join(tmpdir(), 'template-bench-'));
  try {
    const binary = path.join(folder, 'recorder');
    const recorder = path.join(import.meta.dirname, '../../scripts/template-recorder');
    const build = spawnSync('go', ['build', '-o', binary, '.'], { cwd: recorder, stdio: 'inherit' });
    if (build.status !== 0) throw new Error('go build of scripts/template-recorder failed');
    const request = path.join(folder, 'request.json');
    writeFileSync(request, JSON.stringify({ template: text, data, functions: 'istio' }));
    const run = spawnSync(binary, ['-benchmark', request], { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(run.stderr);
    return JSON.parse(run.stdout) as Measurement & { readonly parseMicroseconds: number };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function row(name: string, { microseconds, bytes }: Measurement): string {
  return `${name.padEnd(32)} ${microseconds.toFixed(1).padStart(9)} µs ${Math.round(bytes).toLocaleString('en').padStart(12)} bytes`;
}

/** Time must grow as the template and its output do: the last column stays level. */
function growth(title: string, make: (factor: number) => { text: string; data: unknown }): void {
  console.log(title);
  for (const factor of [1, 2, 4, 8, 16]) {
    const one = make(factor);
    const template = compileTemplate(one.text, { name: 'growth', functions });
    const output = template.execute(one.data).length;
    measure(() => template.execute(one.data), 0.3);
    const { microseconds } = measure(() => template.execute(one.data), 1);
    const each = (microseconds / factor).toFixed(1);
    console.log(
      `  × ${String(factor).padStart(2)}  ${output.toLocaleString('en').padStart(9)} bytes out ${microseconds.toFixed(1).padStart(9)} µs ${each.padStart(9)} µs / factor`,
    );
  }
}

const compileStarted = performance.now();
const template = compileTemplate(text, { name: 'sidecar', functions });
const compileTime = (performance.now() - compileStarted) * 1000;
const output = template.execute(data);
console.log(`${text.split('\n').length - 1} lines of template, ${output.length} bytes of output`);
measure(() => template.execute(data), 2);
const ours = measure(() => template.execute(data), 3);
const go = measureGo();
console.log(row('src/template', ours));
console.log(row('Go text/template', go));
console.log(`compiling: ${compileTime.toFixed(0)} µs here (cold), ${go.parseMicroseconds} µs in Go`);
console.log(`${(go.microseconds / ours.microseconds).toFixed(2)} times Go's speed`);
growth('with the template repeated:', (factor) => ({
  text:
    text.replaceAll(/\{\{- define "probe"[^]*?\{\{- end \}\}\n(?=metadata)/g, '').repeat(factor) +
    (/\{\{- define "probe"[^]*?\{\{- end \}\}\n(?=metadata)/.exec(text)?.[0] ?? ''),
  data,
}));
growth('with more to iterate over:', (factor) => ({
  text: '{{ range .items }}- name: {{ .name | quote }}\n  {{ toYaml .map | indent 2 }}{{ end }}',
  data: {
    items: Array.from({ length: 100 * factor }, (_, index) => ({
      name: `item ${index}`,
      map: { a: index, b: ['x', 'y'] },
    })),
  },
}));
if (ours.microseconds > go.microseconds) process.exitCode = 1;
