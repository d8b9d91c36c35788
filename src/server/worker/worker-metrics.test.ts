import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { RecordingLog } from '../testdata/recording-log.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { until } from '../testdata/until.ts';
import type { WorkerJob } from './review-worker.ts';
import { measuredWorker } from './worker-metrics.ts';

describe('measuredWorker', () => {
  it('counts jobs, and reports whether the thread runs', async () => {
    const registry = new Registry();
    let time = 0;
    const source = `const { parentPort } = require('node:worker_threads');
      parentPort.on('message', () => parentPort.postMessage({ kind: 'decided' }));`;
    const clock = (): number => (time += 100);
    const worker = measuredWorker(registry, { log: new RecordingLog(), clock, program: { source, isText: true } });
    assert.match(await registry.metrics(), /injector_lane_threads 0\n/);
    const outcomes: unknown[] = [];
    const target = { name: 'n', hash: '0a1b2c3d', path: '/inject', annotate: true, injector: someInjector };
    const job = (startBy: number): WorkerJob => ({
      bytes: 1,
      namespace: 'shop',
      startBy,
      allowed: 10_000,
      task: () => ({ body: new Uint8Array(1), maxDepth: 1, target, surroundings: {} }),
      read: () => undefined,
      ended: (outcome) => outcomes.push(outcome),
    });
    worker.submit(job(Infinity));
    worker.submit(job(0));
    await until(() => outcomes.length === 2);
    const text = await registry.metrics();
    const jobs = ['jobs_total{outcome="done"} 1', 'jobs_total{outcome="late"} 1'];
    for (const line of [...jobs, 'seconds_count 1', 'threads 1', 'waiting_bytes 0'])
      assert.ok(text.includes(`injector_lane_${line}\n`), line);
    await worker.close();
  });
});
