import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../scripts/bundle/bundle.ts';
import { defaultWorkerBounds } from '../../src/server/worker/review-worker.ts';
import type { Figures } from '../report.ts';
import type { Changing, ChangingReport } from './changing-process.ts';
import { applyLoad, atFraction } from './load.ts';
import type { ReviewMaker } from './pod-reviews.ts';
import { largeBodies, type LargeBodies } from './pressure.ts';
import { type ProcessUsage, processUsage } from './process-usage.ts';

const paths = { worker: '/revisions/default/0a1b2c3d/inject', direct: '/revisions/direct/0a1b2c3d/inject' };
const warmUp = 3000;
/** The duration of each disturbance. */
const seconds = 6;
const connections = 8;
/** The load as a fraction of one core's capacity. */
const share = 0.7;
/** The milliseconds after which an idle worker has certainly stopped. */
const idleWorker = defaultWorkerBounds.idle + 2000;
const large = { connections: 2, bytes: 19 * 1024 * 1024 };

interface Disturbance {
  readonly name: string;
  readonly changing?: Changing;
  /** The load as a fraction of one core's capacity; the default is {@link share}. */
  readonly load?: number;
  /** The path to which clients send 19 MiB bodies. */
  readonly largeTo?: string;
  /** Whether to wait until the worker has stopped. */
  readonly pauseBefore?: boolean;
}

const notAtAll: Changing = { how: 'not', every: 0 };

const disturbances: readonly Disturbance[] = [
  { name: 'undisturbed' },
  { name: 'other values every second', changing: { how: 'in steps', every: 1000 } },
  { name: 'all templates compiled every second', changing: { how: 'in steps', every: 1000, what: 'templates' } },
  { name: 'all templates compiled without a pause', changing: { how: 'in steps', every: 0, what: 'templates' } },
  { name: 'the same at 35 % load', changing: { how: 'in steps', every: 0, what: 'templates' }, load: 0.35 },
  { name: 'every second, loaded at once', changing: { how: 'at once', every: 1000 } },
  { name: 'undisturbed' },
  { name: '19 MiB bodies, decided on the worker', largeTo: paths.worker },
  { name: 'undisturbed, the worker asleep again', pauseBefore: true },
  { name: '19 MiB bodies, decided on the thread', largeTo: paths.direct },
  // A main thread that handled large bodies stays slow for two seconds, even after a pause.
  { name: 'undisturbed, long after that', pauseBefore: true },
];

/**
 * Measures the latency of new pods at 70 % of a core while configurations load (in steps or in one
 * go) or large bodies arrive (with or without the worker). Then measures loads without requests.
 * @param configurationFile contains ConfigurationFiles as JSON
 */
export async function measureWhileChanging(
  folder: string,
  configurationFile: string,
  reviews: ReviewMaker,
): Promise<Figures> {
  const file = join(folder, 'changing.cjs');
  await bundle(join(import.meta.dirname, 'changing-process.ts'), file, { boundedHeap: true });
  const child = fork(file, [configurationFile], { execArgv: [] });
  const { port } = await nextReport(child);
  const ask = (changing: Changing): Promise<ChangingReport> => {
    const answer = nextReport(child);
    child.send(changing);
    return answer;
  };
  let sent = 2_000_000;
  const load = (count: number, pace: { perSecond?: number }): ReturnType<typeof applyLoad> => {
    const first = (sent += count);
    const path = `${paths.worker}?timeout=10s`;
    return applyLoad({ port, path, connections, requests: count, body: (index) => reviews(first + index), ...pace });
  };
  const usage = () => processUsage(child.pid ?? 0);
  try {
    await load(warmUp, {});
    const before = usage().cpuMilliseconds;
    await load(warmUp, {});
    const capacity = (1000 * warmUp) / (usage().cpuMilliseconds - before);
    const results: Figures[] = [];
    for (const { name, changing = notAtAll, largeTo, pauseBefore, load: ofCore = share } of disturbances) {
      const perSecond = Math.round(ofCore * capacity);
      if (pauseBefore === true) await sleep(idleWorker);
      let pressure: LargeBodies | undefined;
      if (largeTo !== undefined) pressure = largeBodies(port, largeTo, large.connections, large.bytes);
      await ask(changing);
      if (pressure !== undefined) await sleep(2000);
      await ask(changing);
      const start = usage();
      const { latencies, lateness, failed } = await load(perSecond * seconds, { perSecond });
      const end = usage();
      const { loads, loadMilliseconds, longestDelay } = await ask(notAtAll);
      await pressure?.stop();
      const result = {
        name,
        requestsPerSecond: perSecond,
        p50Milliseconds: atFraction(latencies, 0.5),
        p99Milliseconds: atFraction(latencies, 0.99),
        p999Milliseconds: atFraction(latencies, 0.999),
        generatorLateP99Milliseconds: atFraction(lateness, 0.99),
        longestDelayMilliseconds: longestDelay,
        loads,
        loadMilliseconds,
        largeBodyOutcomes: pressure?.outcomes ?? {},
        cpuMilliseconds: end.cpuMilliseconds - start.cpuMilliseconds,
        waitedMilliseconds: end.waitedMilliseconds - start.waitedMilliseconds,
        residentBytes: end.residentBytes,
        peakResidentBytes: end.peakResidentBytes,
        failed,
      };
      results.push(result);
      console.log(describe(result));
      if (changing.how !== 'not') await sleep(1000);
    }
    const loadsAlone = await measureLoadsAlone(ask, usage);
    return { underLoad: results, calm: loadsAlone };
  } finally {
    child.disconnect();
  }
}

/** Measures the cost and the longest step of loading a configuration while no requests arrive. */
async function measureLoadsAlone(
  ask: (changing: Changing) => Promise<ChangingReport>,
  usage: () => ProcessUsage,
): Promise<Figures> {
  const before = usage().cpuMilliseconds;
  await ask({ how: 'in steps', every: 0, what: 'templates' });
  await sleep(1000);
  const { loads, loadMilliseconds, longestDelay } = await ask(notAtAll);
  const cpuMilliseconds = (usage().cpuMilliseconds - before) / loads;
  console.log(
    `loading a configuration without requests: ${loadMilliseconds.toFixed(0)} ms, ${cpuMilliseconds.toFixed(0)} ms CPU, longest step ${longestDelay.toFixed(1)} ms`,
  );
  return { loads, loadMilliseconds, cpuMilliseconds, longestDelayMilliseconds: longestDelay };
}

async function nextReport(child: ChildProcess): Promise<ChangingReport> {
  const [message] = (await once(child, 'message')) as [ChangingReport];
  return message;
}

interface Result {
  readonly name: string;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly generatorLateP99Milliseconds: number;
  readonly longestDelayMilliseconds: number;
  readonly requestsPerSecond: number;
  readonly loads: number;
  readonly loadMilliseconds: number;
  readonly largeBodyOutcomes: Readonly<Record<string, number>>;
  readonly cpuMilliseconds: number;
  readonly waitedMilliseconds: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  readonly failed: number;
}

function describe(result: Result): string {
  const { p50Milliseconds, p99Milliseconds, longestDelayMilliseconds, residentBytes, peakResidentBytes } = result;
  return [
    result.name.padEnd(40),
    `${result.requestsPerSecond} a second: p50 ${p50Milliseconds.toFixed(1)} ms, p99 ${p99Milliseconds.toFixed(1)} ms, ${result.failed} failed`,
    `event loop late by ${longestDelayMilliseconds.toFixed(1)} ms at most, generator by ${result.generatorLateP99Milliseconds.toFixed(1)} ms at p99`,
    `${result.loads} loads of ${result.loadMilliseconds.toFixed(0)} ms, large bodies ${JSON.stringify(result.largeBodyOutcomes)}`,
    `${result.cpuMilliseconds} ms CPU, waited ${result.waitedMilliseconds.toFixed(0)} ms for a core, RSS ${residentBytes >> 20} MiB, peak ${peakResidentBytes >> 20} MiB`,
  ].join(' | ');
}
