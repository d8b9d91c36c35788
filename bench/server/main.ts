import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigurationFiles } from '../../src/api/configuration-files.ts';
import { type Figures, writeMeasurement } from '../report.ts';
import { ChildServer } from './child-server.ts';
import { compareServers, type Comparison, type Scenario } from './compare.ts';
import { measureLatency } from './latency.ts';
import { measureMemory } from './memory.ts';
import { ownScenarios, recordedScenarios, safeScenarios, type ScenarioSet } from './scenarios.ts';
import { measureUnderPressure } from './under-pressure.ts';
import { measureWhileChanging } from './while-changing.ts';

/**
 * Our server against a bare one, in CPU milliseconds a request; then latencies, memory, and healthy requests under attack. With a folder of golden data as first argument
 * with Istio's own templates and a recorded review too: `node --import ts-blank-space/register bench/server/main.ts [golden]`.
 */
const [golden] = process.argv.slice(2);
const connections = 8;
const scratch = mkdtempSync(join(tmpdir(), 'injector-bench-'));

function configurationFile(files: ConfigurationFiles): string {
  const file = join(scratch, 'configuration.json');
  writeFileSync(file, JSON.stringify(files));
  return file;
}

async function compare(files: ConfigurationFiles, scenarios: readonly Scenario[]): Promise<Comparison[]> {
  const bare = await ChildServer.start(scratch, 'bare');
  const ours = await ChildServer.start(scratch, 'ours', configurationFile(files));
  try {
    const results: Comparison[] = [];
    for (const scenario of scenarios) {
      const result = await compareServers(bare, ours, scenario, connections);
      results.push(result);
      console.log(
        [
          result.name.padEnd(24),
          `${result.bodyBytes} B in, ${result.answerBytes} B out`.padEnd(26),
          `bare ${result.bare.toFixed(3)} ms, ours ${result.ours.toFixed(3)} ms CPU, ratio ${result.ratio.toFixed(2)}`,
          `p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms at ${connections} connections`,
          `${result.reused} reused, ${result.failed} failed`,
        ].join(' | '),
      );
    }
    return results;
  } finally {
    bare.stop();
    ours.stop();
  }
}

async function withServer<Result>(
  files: ConfigurationFiles,
  use: (server: ChildServer) => Promise<Result>,
): Promise<Result> {
  const server = await ChildServer.start(scratch, 'ours', configurationFile(files));
  try {
    return await use(server);
  } finally {
    server.stop();
  }
}

function figuresOf(comparisons: readonly Comparison[]): Figures[] {
  return comparisons.map((comparison) => ({ ...comparison }));
}

async function measure(name: string, { files, scenarios, newPods }: ScenarioSet): Promise<Figures> {
  console.log(name);
  const comparisons = figuresOf(await compare(files, scenarios));
  const bare = await ChildServer.start(scratch, 'bare');
  const latency = await withServer(files, (server) => measureLatency(bare, server, newPods));
  bare.stop();
  const memory = await measureMemory(scratch, files, newPods);
  return { name, comparisons, latency, memory };
}

try {
  const own = ownScenarios();
  const sets = [await measure('a small template', own)];
  if (golden !== undefined) {
    sets.push(await measure("Istio's default set-up, review.json", recordedScenarios(golden)));
    console.log('the same with annotation preset Safe');
    const { files, scenarios } = safeScenarios(golden);
    sets.push({ name: 'annotation preset Safe', comparisons: figuresOf(await compare(files, scenarios)) });
  }
  console.log('under attack');
  const pressure = await withServer(own.files, measureUnderPressure);
  console.log('while configurations change, and large bodies are decided');
  const set = golden === undefined ? own : recordedScenarios(golden);
  const whileChanging = await measureWhileChanging(scratch, configurationFile(set.files), set.newPods);
  console.log(writeMeasurement('bench-server', { sets, pressure, whileChanging }));
} finally {
  rmSync(scratch, { recursive: true });
}
