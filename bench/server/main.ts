import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { type Figures, writeMeasurement } from '../report.ts';
import { ChildServer } from './child-server.ts';
import { compareServers, type Comparison, type Scenario } from './compare.ts';
import { measureLatency } from './latency.ts';
import { measureMemory } from './memory.ts';
import { ownScenarios, recordedScenarios, safeScenarios, type ScenarioSet } from './scenarios.ts';
import { measureUnderPressure } from './under-pressure.ts';
import { measureWhileChanging } from './while-changing.ts';

/**
 * Compares our server with a bare server in CPU milliseconds per request, then measures latencies,
 * memory, and healthy requests under attack. `main.ts [GOLDEN] [--only PART]…`: folder GOLDEN adds
 * Istio's templates and a recorded review; `--only` measures only those parts, and writes no file.
 */
const parts = ['compare', 'safe', 'latency', 'memory', 'pressure', 'changing'] as const;
const {
  values: { only },
  positionals: [golden],
} = parseArgs({ allowPositionals: true, options: { only: { type: 'string', multiple: true } } });
const unknown = only?.find((part) => !parts.some((known) => known === part));
if (unknown !== undefined) throw new Error(`--only ${unknown}: the parts are ${parts.join(', ')}`);

function isSelected(part: (typeof parts)[number]): boolean {
  return only === undefined || only.includes(part);
}

const connections = 4;
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
          `p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms (${result.p99Ratio.toFixed(1)} times bare) at ${connections} connections`,
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

async function latencyOf({ files, newPods }: ScenarioSet): Promise<Figures> {
  const bare = await ChildServer.start(scratch, 'bare');
  try {
    return await withServer(files, (server) => measureLatency(bare, server, newPods));
  } finally {
    bare.stop();
  }
}

async function measure(name: string, set: ScenarioSet): Promise<Figures> {
  console.log(name);
  return {
    name,
    ...(isSelected('compare') && { comparisons: figuresOf(await compare(set.files, set.scenarios)) }),
    ...(isSelected('latency') && { latency: await latencyOf(set) }),
    ...(isSelected('memory') && { memory: await measureMemory(scratch, set) }),
  };
}

async function measureSafe(folder: string): Promise<Figures> {
  const name = "Istio's default set-up with annotation preset Safe";
  console.log(name);
  const { files, scenarios } = safeScenarios(folder);
  return { name, comparisons: figuresOf(await compare(files, scenarios)) };
}

async function measurePressure(files: ConfigurationFiles): Promise<Figures> {
  console.log('under attack');
  return await withServer(files, measureUnderPressure);
}

async function measureChanges({ files, newPods }: ScenarioSet): Promise<Figures> {
  console.log('while configurations change, and while large bodies arrive');
  return await measureWhileChanging(scratch, configurationFile(files), newPods);
}

try {
  const own = ownScenarios();
  const recorded = golden === undefined ? undefined : recordedScenarios(golden);
  const sets = [await measure('a small template', own)];
  if (recorded !== undefined) sets.push(await measure("Istio's default set-up, review.json", recorded));
  if (golden !== undefined && isSelected('safe')) sets.push(await measureSafe(golden));
  const figures: Figures = {
    sets,
    ...(isSelected('pressure') && { pressure: await measurePressure(own.files) }),
    ...(isSelected('changing') && { whileChanging: await measureChanges(recorded ?? own) }),
  };
  if (only === undefined) console.log(writeMeasurement('bench-server', figures));
} finally {
  rmSync(scratch, { recursive: true });
}
