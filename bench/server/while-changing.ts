import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../scripts/bundle/bundle.ts';
import { defaultLaneLimits } from '../../src/server/lane/lane-limits.ts';
import type { Figures } from '../report.ts';
import type { Changing, ChangingReport } from './changing-process.ts';
import { applyLoad, atFraction } from './load.ts';
import type { ReviewMaker } from './pod-reviews.ts';
import { largeBodies, type LargeBodies } from './pressure.ts';
import { processUsage } from './process-usage.ts';

const paths = { lane: '/revisions/default/0a1b2c3d/inject', direct: '/revisions/direct/0a1b2c3d/inject' };
const requests = 3000;
const connections = 8;
/** Of what one core can do. */
const share = 0.7;
/** Milliseconds after which the lane's thread has ended for want of work. */
const idleLane = defaultLaneLimits.idle + 2000;
const large = { connections: 2, bytes: 19 * 1024 * 1024 };

interface Disturbance {
  readonly name: string;
  readonly changing?: Changing;
  /** Where 19 MiB bodies are sent to, one after the other. */
  readonly largeTo?: string;
  /** Waits until the lane's thread has ended. */
  readonly pauseBefore?: boolean;
}

const disturbances: readonly Disturbance[] = [
  { name: 'undisturbed' },
  { name: 'configurations change, loaded in steps', changing: 'in steps' },
  { name: 'configurations change, loaded at once', changing: 'at once' },
  { name: 'undisturbed' },
  { name: '19 MiB bodies, decided in the lane', largeTo: paths.lane },
  { name: '19 MiB bodies, decided on the thread', largeTo: paths.direct },
  { name: 'undisturbed, the lane asleep again', pauseBefore: true },
];

/**
 * New pods at random times, at 70 % of what one core can do, while configurations are loaded one after the other or the largest bodies are decided; each beside how it was
 * before there were steps and a lane. Prints a line for each.
 * @param configurationFile holds ConfigurationFiles as JSON
 */
export async function measureWhileChanging(
  folder: string,
  configurationFile: string,
  reviews: ReviewMaker,
): Promise<Figures[]> {
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
    const path = `${paths.lane}?timeout=10s`;
    return applyLoad({ port, path, connections, requests: count, body: (index) => reviews(first + index), ...pace });
  };
  const usage = () => processUsage(child.pid ?? 0);
  try {
    await load(requests, {});
    const before = usage().cpuMilliseconds;
    await load(requests, {});
    const perSecond = Math.round((share * 1000 * requests) / (usage().cpuMilliseconds - before));
    const results: Figures[] = [];
    for (const { name, changing = 'not', largeTo, pauseBefore } of disturbances) {
      if (pauseBefore === true) await sleep(idleLane);
      let pressure: LargeBodies | undefined;
      if (largeTo !== undefined) pressure = largeBodies(port, largeTo, large.connections, large.bytes);
      await ask(changing);
      await sleep(pressure === undefined ? 200 : 2000);
      await ask(changing);
      const cpuBefore = usage().cpuMilliseconds;
      const { latencies, failed } = await load(requests, { perSecond });
      const cpuMilliseconds = usage().cpuMilliseconds - cpuBefore;
      const { loads, longestDelay } = await ask('not');
      await pressure?.stop();
      const { residentBytes, peakResidentBytes } = usage();
      const result = {
        name,
        requestsPerSecond: perSecond,
        p50Milliseconds: atFraction(latencies, 0.5),
        p99Milliseconds: atFraction(latencies, 0.99),
        longestDelayMilliseconds: longestDelay,
        loads,
        largeBodyOutcomes: pressure?.outcomes ?? {},
        cpuMilliseconds,
        residentBytes,
        peakResidentBytes,
        failed,
      };
      results.push(result);
      console.log(describe(result));
    }
    return results;
  } finally {
    child.disconnect();
  }
}

async function nextReport(child: ChildProcess): Promise<ChangingReport> {
  const [message] = (await once(child, 'message')) as [ChangingReport];
  return message;
}

interface Result {
  readonly name: string;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly longestDelayMilliseconds: number;
  readonly requestsPerSecond: number;
  readonly loads: number;
  readonly largeBodyOutcomes: Readonly<Record<string, number>>;
  readonly cpuMilliseconds: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  readonly failed: number;
}

function describe(result: Result): string {
  const { p50Milliseconds, p99Milliseconds, longestDelayMilliseconds, residentBytes, peakResidentBytes } = result;
  return [
    result.name.padEnd(40),
    `${result.requestsPerSecond} a second: p50 ${p50Milliseconds.toFixed(1)} ms, p99 ${p99Milliseconds.toFixed(1)} ms, ${result.failed} failed`,
    `event loop late by ${longestDelayMilliseconds.toFixed(1)} ms at most`,
    `${result.loads} loads, large bodies ${JSON.stringify(result.largeBodyOutcomes)}`,
    `${result.cpuMilliseconds} ms CPU, RSS ${residentBytes >> 20} MiB, peak ${peakResidentBytes >> 20} MiB`,
  ].join(' | ');
}
