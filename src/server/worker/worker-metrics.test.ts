import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { RecordingLog } from '../testdata/recording-log.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { decideOnWorker } from './decide-on-worker.ts';
import { measuredWorker } from './worker-metrics.ts';

describe('measuredWorker', () => {
  it('counts jobs, and reports whether the thread runs', async () => {
    const registry = new Registry();
    let time = 0;
    const source = `const { parentPort } = require('node:worker_threads');
      parentPort.on('message', () => parentPort.postMessage({ kind: 'decided', decision: {} }));`;
    const clock = (): number => (time += 100);
    const worker = measuredWorker(registry, { log: new RecordingLog(), clock, program: { source, isText: true } });
    assert.match(await registry.metrics(), /injector_lane_threads 0\n/);
    const target = { name: 'n', hash: '0a1b2c3d', path: '/inject', annotate: true, injector: someInjector };
    const context = { target, surroundings: () => ({}), dependencies: () => [] };
    const review = { body: Buffer.from('{}'), maxDepth: 1, keepsBody: true };
    await Promise.all([
      decideOnWorker(worker, context, { ...review, timeout: 10_000 }),
      // The clock passes the latest start while the first review is decided.
      decideOnWorker(worker, context, { ...review, timeout: 100 }),
    ]);
    const text = await registry.metrics();
    const jobs = ['jobs_total{outcome="done"} 1', 'jobs_total{outcome="late"} 1'];
    for (const line of [...jobs, 'seconds_count 1', 'threads 1', 'waiting_bytes 0'])
      assert.ok(text.includes(`injector_lane_${line}\n`), line);
    await worker.close();
  });
});
