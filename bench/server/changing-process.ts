import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { configurationHash } from '../../src/api/injector-config/configuration-hash.ts';
import { boundHeap, youngCollector } from '../../src/cli/heap-bounds.ts';
import { loadInjector } from '../../src/inject/injector.ts';
import { createAdmissionServer } from '../../src/server/admission-server.ts';
import { ConfigurationLoader } from '../../src/server/loading/configuration-loader.ts';
import { revisionRoute } from '../../src/server/admission/pod-routes.ts';
import { ServerMetrics } from '../../src/server/metrics/server-metrics.ts';
import { ConfigurationTrials } from '../../src/server/trial/configuration-trials.ts';
import { ReviewWorker } from '../../src/server/worker/review-worker.ts';
import { certificatePair } from './benchmarked.ts';

/** A request from the parent process: how to load configurations until the next request. */
export interface Changing {
  readonly how: 'not' | 'in steps' | 'at once';
  /** The time from one load to the next, in milliseconds; 0 for no pause. */
  readonly every: number;
  /** `values` (the default) edits the values; `templates` forces all templates to compile again. */
  readonly what?: 'values' | 'templates';
}

/** The answer to the parent process. The figures cover the time since the last request. */
export interface ChangingReport {
  readonly port: number;
  readonly loads: number;
  /** The mean time from the start of a load until the server uses it, in milliseconds. */
  readonly loadMilliseconds: number;
  /** The longest delay of the event loop, in milliseconds. */
  readonly longestDelay: number;
}

/**
 * Runs the child process of `while-changing.ts`: our server, with a configuration that changes on
 * request. Reviews for `direct` bypass the worker. `configurationFile` contains ConfigurationFiles.
 */
async function serve(configurationFile = ''): Promise<void> {
  boundHeap();
  const files = JSON.parse(readFileSync(configurationFile, 'utf8')) as ConfigurationFiles;
  const clock = (): number => performance.now();
  const quiet = (): void => undefined;
  const log = { error: console.error, warn: quiet, info: quiet, debug: quiet, isLevelEnabled: () => false };
  const worker = new ReviewWorker({ log, clock });
  const loader = new ConfigurationLoader({
    clock,
    trials: new ConfigurationTrials({ log, clock }),
    collect: youngCollector(),
  });
  const direct = loadInjector(files);
  let current = await loader.load(files);
  const [onWorker, withoutWorker] = [
    revisionRoute({ get: () => current }, { worker }),
    revisionRoute({ get: () => direct }),
  ];
  const pair = await certificatePair();
  const server = createAdmissionServer({
    bindAddress: '127.0.0.1',
    port: 0,
    routes: [
      {
        kind: 'revision',
        resolve: (path) => (path.startsWith('/revisions/direct/') ? withoutWorker : onWorker).resolve(path),
      },
    ],
    certificates: { forServerName: () => pair, defaultPair: () => pair, expiries: () => [] },
    log,
    metrics: new ServerMetrics(new Registry()),
    clock,
  });
  await server.listen();

  let changing: Changing = { how: 'not', every: 0 };
  let loads = 0;
  let loadMilliseconds = 0;
  let rounds = 0;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  async function change({ how, every, what }: Changing): Promise<void> {
    const begun = clock();
    const spaces = ' '.repeat(++rounds % 100);
    // A change of the settings compiles all templates again; a change of the values compiles none.
    const changed =
      what === 'templates'
        ? { ...files, settings: `${files.settings}${spaces}` }
        : { ...files, values: `${files.values.trimEnd()}${spaces}` };
    configurationHash(changed);
    if (how === 'in steps') current = await loader.load(changed);
    else {
      current = loadInjector(changed);
      await turn();
    }
    loads++;
    loadMilliseconds += clock() - begun;
    await sleep(every - (clock() - begun));
  }
  async function keepChanging(): Promise<void> {
    while (changing.how !== 'not') await change(changing);
  }
  const report = (): void => {
    process.send?.({
      port: server.address?.port ?? 0,
      loads,
      loadMilliseconds: loads === 0 ? 0 : loadMilliseconds / loads,
      longestDelay: delay.max / 1e6,
    } satisfies ChangingReport);
    loads = 0;
    loadMilliseconds = 0;
    delay.reset();
  };
  process.on('disconnect', () => process.exit(0));
  process.on('message', (requested: Changing) => {
    const runs = changing.how !== 'not';
    changing = requested;
    report();
    if (!runs) void keepChanging();
  });
  report();
}

void serve(...process.argv.slice(2));
