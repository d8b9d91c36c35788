import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { RecordingLog } from '../testdata/recording-log.ts';
import { HeavyLane } from './heavy-lane.ts';
import { LaneMetrics } from './lane-metrics.ts';

describe('LaneMetrics', () => {
  it('counts what the lane did, and tells whether there is a thread', async () => {
    const registry = new Registry();
    const metrics = new LaneMetrics(registry);
    assert.match(await registry.metrics(), /injector_lane_threads 0\n/);
    metrics.readFrom(new HeavyLane({ log: new RecordingLog(), clock: () => 0, observer: metrics }));
    metrics.ended('done', 0.2);
    metrics.ended('full', 0);
    const text = await registry.metrics();
    assert.match(text, /injector_lane_jobs_total\{outcome="done"\} 1\n/);
    assert.match(text, /injector_lane_jobs_total\{outcome="full"\} 1\n/);
    assert.match(text, /injector_lane_seconds_count 1\n/);
    assert.match(text, /injector_lane_threads 0\n/);
    assert.match(text, /injector_lane_waiting_bytes 0\n/);
  });
});
