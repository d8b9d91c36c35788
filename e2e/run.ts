/**
 * Runs scenarios against a real API server: `run.ts --list`, `run.ts [--core | --rest]
 * [--destructive] [--context NAME] [--advertise HOST] [--full] [--seed N] [--record] [SCENARIO…]`.
 * Each scenario prints its checks and a last line `name: figures`. The run prints `N passed, N
 * failed` at the end, and exits with 1 if a scenario failed. Paired scenarios run first, in two
 * queues with a control plane each; the output of each appears when it ends. Then all other
 * scenarios run alone. `--core` runs the scenarios of `make test`, `--rest` all other scenarios; by
 * default, all run. `--full` runs the size of `make gates`; `--record` writes
 * docs/measurements/SCENARIO.json for each scenario that passes.
 */
import { parseArgs } from 'node:util';
import { writeMeasurement } from '../bench/report.ts';
import { buildBinaries } from './harness/build.ts';
import { namesOwnCluster, openCluster, type Cluster, type ClusterChoice } from './harness/cluster.ts';
import { onInterrupt } from './harness/interrupt.ts';
import { alignColumns } from './harness/pod-table.ts';
import { RightsUsed } from './harness/rights/rights-used.ts';
import { ScenarioContext, type ScenarioSize, type Scenario } from './harness/scenario-context.ts';
import { scenarios } from './scenarios.ts';

type Report = (line: string) => void;

const print: Report = (line) => {
  console.log(line);
};

interface Options extends ClusterChoice, ScenarioSize {
  destructive: boolean;
  record: boolean;
}

class Run {
  passed = 0;
  failed = 0;
  readonly #options: Options;
  readonly #rights = new RightsUsed();
  readonly #open = new Set<Cluster>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Runs paired scenarios first. On a user's cluster or with `record`, runs all of them alone. */
  async runAll(chosen: readonly Scenario[]): Promise<void> {
    const { size, record } = this.#options;
    const mayPair = size === 'short' && !record && !namesOwnCluster(this.#options);
    const pairs = chosen.filter(({ paired = false }) => mayPair && paired);
    const alone = chosen.filter((scenario) => pairs.length < 2 || !pairs.includes(scenario));
    const stopInterrupting = onInterrupt(() => this.#stopAll(true));
    try {
      if (pairs.length >= 2) {
        await buildBinaries(print);
        const both = await Promise.allSettled([this.#runEach(pairs, true), this.#runEach(pairs, true)]);
        for (const each of both) if (each.status === 'rejected') throw each.reason;
      }
      await this.#runEach(alone, false);
    } finally {
      await this.#stopAll(this.failed > 0);
      stopInterrupting();
    }
  }

  /** Runs a queue on one control plane. If `isWhole`, prints a scenario's output when it ends. */
  async #runEach(queue: Scenario[], isWhole: boolean): Promise<void> {
    let shared: Cluster | undefined;
    for (let scenario = queue.shift(); scenario !== undefined; scenario = queue.shift()) {
      const lines: string[] = [];
      const report: Report = isWhole ? (line) => lines.push(line) : print;
      try {
        if (this.#isRefused(scenario, report)) continue;
        const isAlone = scenario.ownControlPlane === true;
        const cluster = isAlone ? await this.#start(report) : (shared ??= await this.#start(report));
        await this.#runScenario(scenario, cluster, report);
        if (isAlone) await this.#stop(cluster, this.failed > 0);
      } finally {
        if (isWhole) print(lines.join('\n'));
      }
    }
    if (shared !== undefined) await this.#stop(shared, this.failed > 0);
  }

  #isRefused({ name, destructive }: Scenario, report: Report): boolean {
    if (destructive === undefined || !namesOwnCluster(this.#options) || this.#options.destructive) return false;
    report(`${name}: refused on your own cluster, because ${destructive}; --destructive runs it anyway`);
    this.failed++;
    return true;
  }

  async #runScenario(scenario: Scenario, cluster: Cluster, report: Report): Promise<void> {
    const context = new ScenarioContext(cluster, scenario.name, this.#options, this.#rights, report);
    const started = Date.now();
    report(`${scenario.name}: ${scenario.about}`);
    let figures = 'FAILED';
    const failures: string[] = [];
    const fail = (what: string, error: unknown) => {
      failures.push(`FAILED ${what}${error instanceof Error ? error.message : String(error)}`);
      report(failures.at(-1)!);
    };
    try {
      const audit = context.startAudit();
      figures = await scenario.run(context);
      context.collectRights(audit);
      await context.checkRights(audit);
    } catch (error) {
      fail('', error);
      report(context.logTails());
    }
    await context.finish().catch((error: unknown) => {
      fail(`to clean up after ${scenario.name}: `, error);
    });
    const seconds = (Date.now() - started) / 1000;
    report(`${scenario.name}: ${context.passed} checks in ${seconds.toFixed(1)} s; ${figures}`);
    this.passed += context.passed;
    if (failures.length > 0) this.failed++;
    else if (this.#options.record) {
      const { size, seed } = this.#options;
      const run = { size, seed, seconds: Math.round(seconds), checks: context.passed, summary: figures };
      report(`written: ${writeMeasurement(scenario.name, { ...run, ...context.figures })}`);
    }
  }

  async #start(report: Report): Promise<Cluster> {
    const cluster = await openCluster(this.#options, report);
    this.#open.add(cluster);
    report(`using ${cluster.description}`);
    return cluster;
  }

  async #stop(cluster: Cluster, keepsLogs: boolean): Promise<void> {
    this.#open.delete(cluster);
    await cluster.stop(keepsLogs);
  }

  async #stopAll(keepsLogs: boolean): Promise<void> {
    await Promise.all([...this.#open].map((cluster) => this.#stop(cluster, keepsLogs)));
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      core: { type: 'boolean', default: false },
      rest: { type: 'boolean', default: false },
      destructive: { type: 'boolean', default: false },
      context: { type: 'string' },
      advertise: { type: 'string' },
      full: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      record: { type: 'boolean', default: false },
    },
  });
  if (values.list) {
    print(alignColumns(scenarios.map(({ name, about }) => [name, about])));
    return 0;
  }
  const unknown = positionals.filter((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    console.error(
      `no such scenario: ${unknown.join(', ')}; choose from ${scenarios.map(({ name }) => name).join(', ')}`,
    );
    return 2;
  }
  if (!/^\d{1,9}$/.test(values.seed)) {
    console.error(`--seed must be an integer from 0 to 999999999, not ${values.seed}`);
    return 2;
  }
  const isChosen = ({ name, core = false, onlyGate = false }: Scenario): boolean => {
    if (positionals.length > 0) return positionals.includes(name);
    return !onlyGate && (values.core === values.rest || values.core === core);
  };
  const chosen = scenarios.filter(isChosen);
  const run = new Run({
    destructive: values.destructive,
    context: values.context,
    advertiseHost: values.advertise,
    size: values.full ? 'full' : 'short',
    seed: Number(values.seed),
    record: values.record,
  });
  await run.runAll(chosen);
  print(`${run.passed} passed, ${run.failed} failed`);
  return run.failed === 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  print('0 passed, 1 failed');
  return 1;
});
