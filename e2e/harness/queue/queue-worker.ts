/** Runs the scenarios of a queue in this process, on one control plane. */
import { writeMeasurement } from '../../../bench/report.ts';
import { account, cpuSecondsOf } from '../../../scripts/test/account.ts';
import { scenarios } from '../../scenarios.ts';
import { openCluster, type Cluster, type ClusterChoice } from '../cluster.ts';
import { nodeLacks } from '../node/node-lacks.ts';
import { RightsUsed, type RightsSnapshot } from '../rights/rights-used.ts';
import { ScenarioContext, type Scenario, type ScenarioSize } from '../scenario-context.ts';
import { announce, serveWorker, workerData } from '../worker/serve-worker.ts';

export interface QueueOptions extends ClusterChoice, ScenarioSize {
  /** Whether scenarios that need --destructive may run on the user's own cluster. */
  destructive: boolean;
  record: boolean;
}

export interface Outcome {
  passed: number;
  isFailed: boolean;
  rights: RightsSnapshot;
}

// A scenario may run commands that run scenarios. The account of the first includes the others.
delete process.env['TEST_ACCOUNT'];
const options = workerData as QueueOptions;
const report = (line: string): void => {
  announce('line', line);
};
const open = new Set<Cluster>();
let running: ScenarioContext | undefined;
let shared: Cluster | undefined;

async function start(realNode = false): Promise<Cluster> {
  const cluster = await openCluster({ ...options, realNode }, report);
  open.add(cluster);
  report(`using ${cluster.description}`);
  return cluster;
}

async function stop(cluster: Cluster, keepsLogs: boolean): Promise<void> {
  open.delete(cluster);
  await cluster.stop(keepsLogs);
}

async function runScenario(scenario: Scenario, cluster: Cluster, rights: RightsUsed): Promise<Outcome> {
  const context = new ScenarioContext(cluster, scenario.name, options, rights, report);
  running = context;
  const [started, before] = [Date.now(), cpuSecondsOf('self')];
  report(`${scenario.name}: ${scenario.about}`);
  let figures = 'FAILED';
  let isFailed = false as boolean;
  const fail = (what: string, error: unknown): void => {
    isFailed = true;
    report(`FAILED ${what}${error instanceof Error ? error.message : String(error)}`);
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
  await context.finish().catch((error: unknown) => fail(`to clean up after ${scenario.name}: `, error));
  const { passed } = context;
  const seconds = (Date.now() - started) / 1000;
  // All processes that the scenario started have ended.
  const cpuSeconds = before && (cpuSecondsOf('self')?.ended ?? 0) - before.ended;
  account({ kind: 'scenario', name: scenario.name, seconds, cpuSeconds });
  report(`${scenario.name}: ${passed} checks in ${seconds.toFixed(1)} s; ${figures}`);
  if (options.record && !isFailed) {
    const { size, seed } = options;
    const run = { size, seed, seconds: Math.round(seconds), checks: passed, summary: figures };
    report(`written: ${writeMeasurement(scenario.name, { ...run, ...context.figures })}`);
  }
  return { passed, isFailed, rights: rights.snapshot() };
}

const methods = {
  async run(name: string, used: RightsSnapshot): Promise<Outcome> {
    const scenario = scenarios.find((each) => each.name === name);
    if (scenario === undefined) throw new Error(`no such scenario: ${name}`);
    const rights = new RightsUsed();
    rights.add(used);
    const { realNode = false, ownControlPlane = realNode } = scenario;
    const lacking = realNode ? nodeLacks() : undefined;
    if (lacking !== undefined) {
      report(`${name}: skipped: ${lacking}`);
      return { passed: 0, isFailed: process.env['CI'] === 'true', rights: used };
    }
    if (!ownControlPlane) return await runScenario(scenario, (shared ??= await start()), rights);
    const cluster = await start(realNode);
    const outcome = await runScenario(scenario, cluster, rights);
    await stop(cluster, outcome.isFailed);
    return outcome;
  },
  async stop(keepsLogs: boolean): Promise<void> {
    try {
      await running?.end();
    } finally {
      await Promise.all([...open].map((cluster) => stop(cluster, keepsLogs)));
    }
  },
};
export type QueueMethods = typeof methods;
serveWorker(methods);
