/**
 * Runs scenarios against a real API server: `run.ts --list`, `run.ts [--core | --rest]
 * [--beside | --alone] [--queues N] [--destructive] [--context NAME] [--advertise HOST] [--full]
 * [--seed N] [--record] [SCENARIO…]`. Each scenario prints its checks and a last line with figures.
 * The run prints `N passed, N failed` at the end, and exits with 1 if a scenario failed. Most
 * scenarios run in several queues (by default two), each a process with its own control plane; the
 * output of each scenario appears when it ends. Scenarios that must run alone follow. `--core` runs
 * the scenarios of `make test`, `--rest` all other scenarios; by default, all run. `--alone` omits
 * the scenarios that run in queues, `--beside` those that run alone. `--full` runs the size of
 * `make gates`; `--record` writes docs/measurements/SCENARIO.json for each scenario that passes.
 */
import { parseArgs } from 'node:util';
import { buildBinaries } from './harness/build.ts';
import { namesOwnCluster } from './harness/cluster.ts';
import { onInterrupt } from './harness/interrupt.ts';
import { alignColumns } from './harness/pod-table.ts';
import { Queue } from './harness/queue/queue.ts';
import type { QueueOptions } from './harness/queue/queue-worker.ts';
import { RightsUsed } from './harness/rights/rights-used.ts';
import type { Scenario } from './harness/scenario-context.ts';
import { scenarios } from './scenarios.ts';

const print: (line: string) => void = console.log;

class Run {
  passed = 0;
  failed = 0;
  readonly #options: QueueOptions;
  readonly #rights = new RightsUsed();
  readonly #queues = new Set<Queue>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Runs scenarios in queues; on a user's cluster or with `record`, one after another. */
  async runAll(chosen: readonly Scenario[], queues: number): Promise<void> {
    const { size, record } = this.#options;
    const mayRunBeside = size === 'short' && !record && !namesOwnCluster(this.#options);
    const [last, others] = [chosen.filter(({ last }) => last === true), chosen.filter(({ last }) => last !== true)];
    const beside = others.filter(({ alone }) => mayRunBeside && alone === undefined);
    const alone = others.filter((scenario) => !beside.includes(scenario));
    const stopInterrupting = onInterrupt(() => Promise.all([...this.#queues].map((queue) => queue.stop(true))));
    try {
      if (beside.length > 1) await buildBinaries(print);
      // The queues share this list, and each takes the next scenario when it is free.
      const count = Math.min(queues, beside.length);
      await Promise.all(Array.from({ length: count }, () => this.#runEach(beside, count > 1)));
      await this.#runEach([...last, ...alone], false);
    } finally {
      stopInterrupting();
    }
  }

  /** Runs scenarios one after another. If `isWhole`, prints a scenario's output when it ends. */
  async #runEach(list: Scenario[], isWhole: boolean): Promise<void> {
    const queue = new Queue(this.#options, isWhole, print);
    this.#queues.add(queue);
    let keepsLogs = false;
    for (let scenario = list.shift(); scenario !== undefined; scenario = list.shift()) {
      if (this.#isRefused(scenario)) continue;
      const { passed, isFailed, rights } = await queue.run(scenario.name, this.#rights.snapshot());
      this.passed += passed;
      this.failed += Number(isFailed);
      keepsLogs ||= isFailed;
      this.#rights.add(rights);
    }
    await queue.stop(keepsLogs);
    this.#queues.delete(queue);
  }

  #isRefused({ name, destructive }: Scenario): boolean {
    if (destructive === undefined || !namesOwnCluster(this.#options) || this.#options.destructive) return false;
    print(`${name}: refused on your own cluster, because ${destructive}; --destructive runs it anyway`);
    this.failed++;
    return true;
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      core: { type: 'boolean', default: false },
      rest: { type: 'boolean', default: false },
      beside: { type: 'boolean', default: false },
      alone: { type: 'boolean', default: false },
      queues: { type: 'string', default: '2' },
      destructive: { type: 'boolean', default: false },
      context: { type: 'string' },
      advertise: { type: 'string' },
      full: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      record: { type: 'boolean', default: false },
    },
  });
  if (values.list) {
    const rows = scenarios.map(({ name, about }) => [name, about]);
    print(alignColumns(rows.sort(([one = ''], [other = '']) => one.localeCompare(other))));
    return 0;
  }
  const unknown = positionals.filter((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    console.error(
      `no such scenario: ${unknown.join(', ')}; choose from ${scenarios.map(({ name }) => name).join(', ')}`,
    );
    return 2;
  }
  if (!/^\d{1,9}$/.test(values.seed) || !/^[1-9]$/.test(values.queues)) {
    console.error(
      `--seed must be an integer from 0 to 999999999, and --queues from 1 to 9, not ${values.seed} and ${values.queues}`,
    );
    return 2;
  }
  const isChosen = ({ name, core = false, onlyGate = false, alone }: Scenario): boolean => {
    if (positionals.length > 0) return positionals.includes(name);
    if (onlyGate || (values.core !== values.rest && values.core !== core)) return false;
    return values.alone === values.beside || values.alone === (alone !== undefined);
  };
  const run = new Run({
    destructive: values.destructive,
    context: values.context,
    advertiseHost: values.advertise,
    size: values.full ? 'full' : 'short',
    seed: Number(values.seed),
    record: values.record,
  });
  await run.runAll(scenarios.filter(isChosen), Number(values.queues));
  print(`${run.passed} passed, ${run.failed} failed`);
  return run.failed === 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  print('0 passed, 1 failed');
  return 1;
});
