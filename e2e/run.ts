/**
 * Runs scenarios against a real API server: `run.ts --list`, `run.ts [--destructive] [--context NAME] [--advertise HOST] [--full] [--seed N] [--record] [SCENARIO…]`.
 * Each prints its checks and a last line `name: figures`; the run ends with `N passed, N failed` and exits 1 when one falls short.
 * `--full` runs them in the size of `make gates`; `--record` writes docs/measurements/SCENARIO.json for each that passes.
 */
import { parseArgs } from 'node:util';
import { writeMeasurement } from '../bench/report.ts';
import { namesOwnCluster, openCluster, type Cluster, type ClusterChoice } from './harness/cluster.ts';
import { onInterrupt } from './harness/interrupt.ts';
import { alignColumns } from './harness/pod-table.ts';
import { RightsUsed } from './harness/rights/rights-used.ts';
import { ScenarioContext, type ScenarioSize } from './harness/scenario-context.ts';
import type { Scenario } from './harness/scenario.ts';
import { scenarios } from './scenarios.ts';

const report = (line: string) => {
  console.log(line);
};

interface Options extends ClusterChoice, ScenarioSize {
  destructive: boolean;
  record: boolean;
}

async function runScenario(
  scenario: Scenario,
  cluster: Cluster,
  options: Options,
  rights: RightsUsed,
): Promise<{ passed: number; failed: number }> {
  const context = new ScenarioContext(cluster, scenario.name, options, rights, report);
  const started = Date.now();
  report(`${scenario.name}: ${scenario.about}`);
  let figures = 'FAILED';
  let failed = 0;
  try {
    const audit = context.startAudit();
    figures = await scenario.run(context);
    context.collectRights(audit);
    await context.checkRights(audit);
  } catch (error) {
    failed = 1;
    report(`FAILED ${error instanceof Error ? error.message : String(error)}`);
    report(context.logTails());
  }
  await context.finish().catch((error: unknown) => {
    failed = 1;
    report(`FAILED to clean up after ${scenario.name}: ${error instanceof Error ? error.message : String(error)}`);
  });
  const seconds = (Date.now() - started) / 1000;
  report(`${scenario.name}: ${context.passed} checks in ${seconds.toFixed(1)} s; ${figures}`);
  if (options.record && failed === 0) {
    const { size, seed } = options;
    const run = { size, seed, seconds: Math.round(seconds), checks: context.passed, summary: figures };
    report(`written: ${writeMeasurement(scenario.name, { ...run, ...context.figures })}`);
  }
  return { passed: context.passed, failed };
}

async function runAll(chosen: Scenario[], options: Options): Promise<{ passed: number; failed: number }> {
  const total = { passed: 0, failed: 0 };
  const rights = new RightsUsed();
  let shared: Cluster | undefined;
  const open = new Set<Cluster>();
  const stopInterrupting = onInterrupt(() => Promise.all([...open].map((cluster) => cluster.stop(true))));
  const start = async () => {
    const cluster = await openCluster(options, report);
    open.add(cluster);
    report(`using ${cluster.description}`);
    return cluster;
  };
  const stop = async (cluster: Cluster) => {
    open.delete(cluster);
    await cluster.stop(total.failed > 0);
  };
  try {
    for (const scenario of chosen) {
      if (scenario.destructive !== undefined && namesOwnCluster(options) && !options.destructive) {
        report(
          `${scenario.name}: refused on a cluster of your own, since ${scenario.destructive}; --destructive runs it`,
        );
        total.failed++;
        continue;
      }
      const own = scenario.ownControlPlane === true;
      const cluster = own ? await start() : (shared ??= await start());
      const { passed, failed } = await runScenario(scenario, cluster, options, rights);
      total.passed += passed;
      total.failed += failed;
      if (own) await stop(cluster);
    }
  } finally {
    for (const cluster of [...open]) await stop(cluster);
    stopInterrupting();
  }
  return total;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      destructive: { type: 'boolean', default: false },
      context: { type: 'string' },
      advertise: { type: 'string' },
      full: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      record: { type: 'boolean', default: false },
    },
  });
  if (values.list) {
    report(alignColumns(scenarios.map(({ name, about }) => [name, about])));
    return 0;
  }
  const unknown = positionals.filter((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    console.error(`no such scenario: ${unknown.join(', ')}; there are ${scenarios.map(({ name }) => name).join(', ')}`);
    return 2;
  }
  if (!/^\d{1,9}$/.test(values.seed)) {
    console.error(`--seed must be a whole number below 1000000000, not ${values.seed}`);
    return 2;
  }
  const chosen = scenarios.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const { passed, failed } = await runAll(chosen, {
    destructive: values.destructive,
    context: values.context,
    advertiseHost: values.advertise,
    size: values.full ? 'full' : 'short',
    seed: Number(values.seed),
    record: values.record,
  });
  report(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  report('0 passed, 1 failed');
  return 1;
});
