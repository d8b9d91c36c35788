import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import type { Figures } from '../report.ts';
import { certificatePair } from './benchmarked.ts';
import { applyLoad } from './load.ts';
import { processUsage } from './process-usage.ts';
import type { ScenarioSet } from './scenarios.ts';

const program = join(import.meta.dirname, '..', '..', 'dist', 'injector.cjs');
const requests = 50_000;
/** The number of requests that are prepared at one time. */
const batch = 5000;
const connections = 8;

/** Measures start and memory of the bundled `injector serve` under full load with distinct pods. */
export async function measureMemory(folder: string, { files, scenarios, newPods }: ScenarioSet): Promise<Figures> {
  const reviews = scenarios.find(({ name }) => name.endsWith('never seen'))?.reviews ?? newPods;
  const port = await freePort();
  const child = spawn(process.execPath, [program, 'serve', ...(await prepare(folder, files)), `--port=${port}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '262144' },
  });
  try {
    const started = performance.now();
    const load = (count: number, first: number) =>
      applyLoad({ port, path: '/inject?timeout=10s', connections, requests: count, body: (n) => reviews(first + n) });
    while (child.exitCode === null && !(await load(1, requests).then(Boolean, () => false))) await sleep(20);
    const startMilliseconds = performance.now() - started;
    const usage = () => processUsage(child.pid ?? 0);
    const startCpuMilliseconds = usage().cpuMilliseconds;
    await sleep(500);
    const idleBytes = usage().residentBytes;
    for (let sent = 0; sent < requests; sent += batch) await load(batch, sent);
    const { residentBytes: loadedBytes, peakResidentBytes: peakBytes } = usage();
    const shown = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(
      `injector serve: first answer after ${startMilliseconds.toFixed(0)} ms, ${startCpuMilliseconds} ms CPU | ` +
        `RSS ${shown(idleBytes)} idle, ${shown(loadedBytes)} after ${requests} different pods at full load, ${shown(peakBytes)} at most`,
    );
    return { startMilliseconds, startCpuMilliseconds, idleBytes, loadedBytes, peakBytes };
  } finally {
    child.kill('SIGKILL');
  }
}

/** Writes the files of the server. Returns flags with their paths. */
async function prepare(folder: string, { config, values, mesh }: ConfigurationFiles): Promise<string[]> {
  const directory = join(folder, 'configuration');
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries({ config, values, mesh })) writeFileSync(join(directory, name), text);
  const { certificatePem, privateKeyPem } = await certificatePair();
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  writeFileSync(certificate, certificatePem);
  writeFileSync(key, privateKeyPem);
  return [
    '--host=127.0.0.1',
    `--config-dir=${directory}`,
    `--tls-cert=${certificate}`,
    `--tls-key=${key}`,
    '--log-level=warn',
  ];
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}
