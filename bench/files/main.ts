/**
 * Measures the commands that read files, with files of 1, 10 and 50 MB: the peak of the resident
 * memory, and the speed without the engine, in CPU time. Takes about 10 minutes.
 *
 *     node --import ./scripts/typescript/register.js bench/files/main.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../scripts/bundle/bundle.ts';
import { recordOriginal, uninjectObject } from '../../src/explain/uninject-object.ts';
import { loadInjector } from '../../src/inject/injector.ts';
import { editFile } from '../../src/inject/kube-inject.ts';
import { injectObject } from '../../src/inject/objects/inject-object.ts';
import { mapParts } from '../../src/inject/objects/parts-of-file.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { writeMeasurement } from '../report.ts';
import { type Format, formats, generatedFile } from './generated-file.ts';

const megabyte = 1_000_000;
const sizes = [1, 10, 50];
const slowest = 3;
const limitOf = (fileBytes: number): number => 100 * megabyte + 10 * fileBytes;

/** Prints the peak of the resident memory at the end of a command. */
const reporter = `process.on('exit', () => {
  const status = require('node:fs').readFileSync('/proc/self/status', 'utf8');
  require('node:fs').writeSync(3, /VmHWM:\\s+(\\d+) kB/.exec(status)[1]);
});`;

const template = (image: string): string =>
  `metadata: {annotations: {logs.example/collected: "true"}}\nspec: {containers: [{name: agent, image: "${image}"}]}`;
const configWith = (image: string): string =>
  `policy: enabled\ntemplates: {sidecar: ${JSON.stringify(template(image))}}\n`;
const objectWith = (image: string): string =>
  JSON.stringify({
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'InjectorConfig',
    metadata: { name: 'bench' },
    spec: { injection: { templates: { sidecar: template(image) } } },
  });

const folder = mkdtempSync(join(tmpdir(), 'files-bench-'));
const at = (name: string): string => join(folder, name);

/** Runs a command of the bundle. Returns its seconds and its peak of the resident memory. */
function run(args: readonly string[], statuses: readonly number[]): { seconds: number; peakBytes: number } {
  const started = performance.now();
  const { status, output, stderr } = spawnSync(
    process.execPath,
    ['-r', at('reporter.cjs'), at('injector.cjs'), ...args],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 28,
    },
  );
  const seconds = (performance.now() - started) / 1000;
  if (!statuses.includes(status ?? -1)) throw new Error(`${args.join(' ')}: exit ${status}: ${stderr.slice(0, 1000)}`);
  return { seconds, peakBytes: Number(output[3]) * 1024 };
}

const injector = loadInjector({ config: configWith('agent:1'), values: '{}', mesh: '', settings: '{}' });
const by = { injector, request: { namespace: 'default', nodes: [] } };

function inject(object: JsonObject): JsonObject {
  const result = injectObject(injector, object, {});
  return result.outcome === 'injected' ? recordOriginal(object, result.object, by) : object;
}

function uninject(object: JsonObject): JsonObject {
  return uninjectObject(object, by)?.object ?? object;
}

/** Returns the CPU seconds of this process, which other processes do not change. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Returns the megabytes per CPU second of an edit without the engine, and the new text. */
function speedOf(text: string, edit: (object: JsonObject) => JsonObject): { speed: number; text: string } {
  let engine = 0;
  const started = cpuSeconds();
  const result = editFile(text, (object) => {
    const before = cpuSeconds();
    const after = edit(object);
    engine += cpuSeconds() - before;
    return { object: after, warnings: [] };
  });
  const seconds = cpuSeconds() - started - engine;
  if (result.outcome === 'failed') throw new Error(result.message);
  return { speed: text.length / megabyte / seconds, text: result.text };
}

function readingSpeed(text: string): number {
  const started = cpuSeconds();
  mapParts(text, (part) => (part.read() === undefined ? [part] : []));
  return text.length / megabyte / (cpuSeconds() - started);
}

function measure(format: Format, megabytes: number) {
  const text = generatedFile(format, megabytes * megabyte);
  const [file, injected] = [at('file'), at('injected')];
  writeFileSync(file, text);
  const configuration = ['--config', at('before.yaml')];
  const istio = ['--injectConfigFile', at('config'), '--meshConfigFile', at('mesh'), '--valuesFile', at('values')];
  const commands: [name: string, args: string[], input: string, statuses: number[]][] = [
    ['inject', ['inject', ...configuration, '-f', file, '-o', injected], file, [0]],
    ['uninject', ['uninject', ...configuration, '-f', injected, '-o', at('restored')], injected, [0]],
    ['kube-inject', ['kube-inject', ...istio, '-f', file, '-o', at('kube-injected')], file, [0]],
    ['lint', ['lint', at('before.yaml'), file], file, [0, 3]],
    ['diff', ['diff', '--manifests', file, '-f', at('after.yaml'), '--from-file', at('before.yaml')], file, [3]],
  ];
  const rows = commands.map(([name, args, input, statuses]) => {
    const { seconds, peakBytes } = run(args, statuses);
    const fileBytes = statSync(input).size;
    const isBounded = peakBytes <= limitOf(fileBytes);
    const shown = [peakBytes, limitOf(fileBytes)].map((bytes) => `${(bytes / megabyte).toFixed(0)} MB`);
    console.log(
      `${format}, ${megabytes} MB: ${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s, peak ${shown.join(' of at most ')}${isBounded ? '' : ': TOO MUCH'}`,
    );
    return { command: name, fileBytes, seconds: rounded(seconds), peakBytes, isBounded };
  });
  const isRestored = readFileSync(file).equals(readFileSync(at('restored')));
  const after = speedOf(text, inject);
  const speeds = {
    reading: readingSpeed(text),
    injecting: after.speed,
    uninjecting: speedOf(after.text, uninject).speed,
  };
  const isFast = Object.values(speeds).every((speed) => speed >= slowest);
  console.log(
    `${format}, ${megabytes} MB: MB per CPU second without the engine: ${Object.entries(speeds)
      .map(([name, speed]) => `${speed.toFixed(1)} ${name}`)
      .join(', ')}${isFast ? '' : ': TOO SLOW'}${isRestored ? '' : '; uninject did not restore the file'}`,
  );
  const { reading, injecting, uninjecting } = speeds;
  return {
    format,
    megabytes,
    commands: rows,
    megabytesPerSecond: { reading: rounded(reading), injecting: rounded(injecting), uninjecting: rounded(uninjecting) },
    passed: rows.every(({ isBounded }) => isBounded) && isFast && isRestored,
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

try {
  await bundle(join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts'), at('injector.cjs'), {
    boundedHeap: true,
  });
  for (const [name, content] of Object.entries({
    'reporter.cjs': reporter,
    'before.yaml': objectWith('agent:1'),
    'after.yaml': objectWith('agent:2'),
    config: configWith('agent:1'),
    mesh: 'defaultConfig: {}\n',
    values: '{}',
  }))
    writeFileSync(at(name), content);
  // V8 compiles what runs often.
  for (const format of formats) speedOf(speedOf(generatedFile(format, 3 * megabyte), inject).text, uninject);
  const startUp = run(['version'], [0]);
  console.log(`start: ${startUp.seconds.toFixed(2)} s, ${(startUp.peakBytes / megabyte).toFixed(0)} MB`);
  const files = sizes.flatMap((megabytes) => formats.map((format) => measure(format, megabytes)));
  const largest = files.flatMap(({ commands }) =>
    commands.map(({ peakBytes, fileBytes }) => peakBytes / limitOf(fileBytes)),
  );
  const slow = files.flatMap(({ megabytesPerSecond }) => Object.values(megabytesPerSecond));
  const summary = `files of ${sizes.join(', ')} MB: at most ${(Math.max(...largest) * 100).toFixed(0)} % of the allowed memory, at least ${Math.min(...slow).toFixed(1)} MB/s without the engine`;
  console.log(summary);
  if (files.every(({ passed }) => passed)) writeMeasurement('bench-files', { summary, startUp, files });
  else process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
