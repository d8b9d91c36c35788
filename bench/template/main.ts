/**
 * Measures microseconds and bytes per execution of a sidecar-sized template, in this project and in
 * Go, and how the time grows with the template and its output. Takes about 20 seconds.
 *
 *     node --import ./scripts/typescript/register.js bench/template/main.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { functionsOfFamily } from '../../src/template/functions/go/function-families.ts';
import { compileTemplate } from '../../src/template/template.ts';
import { writeMeasurement } from '../report.ts';
import { data } from './data.ts';
import { bytesOf, microsecondsOf } from './measure.ts';

interface Measurement {
  readonly microseconds: number;
  readonly bytes: number;
}

interface GoMeasurement extends Measurement {
  readonly parseMicroseconds: number;
}

const functions = functionsOfFamily('istio');
const text = readFileSync(path.join(import.meta.dirname, 'sidecar.tmpl'), 'utf8');

function measureGo(): GoMeasurement {
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
    return JSON.parse(run.stdout) as GoMeasurement;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function row(name: string, { microseconds, bytes }: Measurement): string {
  return `${name.padEnd(32)} ${microseconds.toFixed(1).padStart(9)} µs ${Math.round(bytes).toLocaleString('en').padStart(12)} bytes`;
}

/** Prints the time for growing templates. The last column must stay constant. */
function growth(title: string, make: (factor: number) => { text: string; data: unknown }): Record<string, number>[] {
  console.log(title);
  return [1, 4, 16].map((factor) => {
    const one = make(factor);
    const template = compileTemplate(one.text, { name: 'growth', functions });
    const outputBytes = template.execute(one.data).length;
    const execute = (): string => template.execute(one.data);
    microsecondsOf(execute, 0.5);
    const microseconds = microsecondsOf(execute, 1);
    const perFactor = microseconds / factor;
    console.log(
      `  × ${String(factor).padStart(2)}  ${outputBytes.toLocaleString('en').padStart(9)} bytes out ${microseconds.toFixed(1).padStart(9)} µs ${perFactor.toFixed(1).padStart(9)} µs / factor`,
    );
    return { factor, outputBytes, microseconds: rounded(microseconds), microsecondsPerFactor: rounded(perFactor) };
  });
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

const compileStarted = performance.now();
const template = compileTemplate(text, { name: 'sidecar', functions });
const compileMicroseconds = (performance.now() - compileStarted) * 1000;
const output = template.execute(data);
const lines = text.split('\n').length - 1;
console.log(`${lines} lines of template, ${output.length} bytes of output`);
const execute = (): string => template.execute(data);
microsecondsOf(execute, 2);
const ours = { microseconds: microsecondsOf(execute, 3), bytes: bytesOf(execute) };
const go = measureGo();
const timesGo = go.microseconds / ours.microseconds;
console.log(row('src/template', ours));
console.log(row('Go text/template', go));
console.log(`compiling: ${compileMicroseconds.toFixed(0)} µs here (cold), ${go.parseMicroseconds} µs in Go`);
console.log(`${timesGo.toFixed(2)} times Go's speed`);
const definition = /\{\{- define "probe"[^]*?\{\{- end \}\}\n(?=metadata)/;
const repeated = growth('with the template repeated:', (factor) => ({
  text: text.replace(definition, '').repeat(factor) + (definition.exec(text)?.[0] ?? ''),
  data,
}));
const iterated = growth('with more items to iterate over:', (factor) => ({
  text: '{{ range .items }}- name: {{ .name | quote }}\n  {{ toYaml .map | indent 2 }}{{ end }}',
  data: {
    items: Array.from({ length: 100 * factor }, (_, index) => ({
      name: `item ${index}`,
      map: { a: index, b: ['x', 'y'] },
    })),
  },
}));
writeMeasurement('bench-template', {
  templateLines: lines,
  outputBytes: output.length,
  ours: { microseconds: rounded(ours.microseconds), bytes: Math.round(ours.bytes) },
  go: { ...go },
  timesGoSpeed: rounded(timesGo),
  compileMicroseconds: { ours: Math.round(compileMicroseconds), go: go.parseMicroseconds },
  withTemplateRepeated: repeated,
  withMoreToIterate: iterated,
});
if (timesGo < 1) process.exitCode = 1;
