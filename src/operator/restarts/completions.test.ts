import assert from 'node:assert/strict';
import { formatRestartAnnotation, type WorkloadRestart } from '../../api/revision-tag/restart-annotation.ts';
import { Completions } from './completions.ts';
import { workload } from './testdata/workloads.ts';
import { recordOfWorkload, type WorkloadRecord } from './workload-record.ts';

const first: WorkloadRestart = { tag: 'prod', target: 'a.00000001', at: 1000 };
const second: WorkloadRestart = { tag: 'prod', target: 'b.00000002', at: 90_000 };
const logs: WorkloadRestart = { tag: 'logs', target: 'c.00000003', at: 500 };

function record(isComplete: boolean, restarts: readonly WorkloadRestart[] = [first], metadata = {}): WorkloadRecord {
  const annotations = { 'sidecar-injector.io/restarted': formatRestartAnnotation(restarts) };
  const status = isComplete ? {} : { updatedReplicas: 1 };
  return recordOfWorkload(workload('Deployment', 'web', { template: { annotations }, status, metadata }));
}

/** Returns the observations after these changes. */
function after(...notes: readonly (readonly [at: number, record: WorkloadRecord])[]) {
  const completions = new Completions();
  for (const [at, each] of notes) completions.note(each, at);
  const { completeSince, completedFor, restarts } = completions.of(notes.at(-1)![1]);
  return { completeSince, completedFor, restarts };
}

describe('Completions', () => {
  it('measures from the first observation of a complete workload', () => {
    const seen = after([2000, record(false)], [5000, record(true)], [9000, record(true)]);
    assert.deepEqual(seen, { completeSince: 5000, completedFor: undefined, restarts: [first] });
  });

  it('remembers the longest time for which a workload was complete', () => {
    const once = [[2000, record(true)] as const, [5000, record(false)] as const];
    const seen = after(...once, [6000, record(true)], [7000, record(false)], [8000, record(false)]);
    assert.deepEqual(seen, { completeSince: undefined, completedFor: 3000, restarts: [first] });
  });

  it('remembers when a workload last made progress', () => {
    const at = (updated: number, available: number, restarts = [first]): WorkloadRecord => {
      const annotations = { 'sidecar-injector.io/restarted': formatRestartAnnotation(restarts) };
      const status = { updatedReplicas: updated, availableReplicas: available };
      return recordOfWorkload(workload('Deployment', 'web', { template: { annotations }, status }));
    };
    const completions = new Completions();
    const progressedAt = (now: number, each: WorkloadRecord): number | undefined => {
      completions.note(each, now);
      return completions.of(each).progressedAt;
    };
    assert.equal(progressedAt(2000, at(1, 2)), undefined, 'the time of the first observation is unknown');
    assert.equal(progressedAt(3000, at(2, 1)), 3000);
    assert.equal(progressedAt(4000, at(2, 0)), 3000);
    assert.equal(progressedAt(5000, at(2, 1)), 3000, 'a replaced pod is no progress');
    assert.equal(progressedAt(6000, at(2, 2)), 6000);
    assert.equal(progressedAt(7000, at(3, 3)), 7000);
    assert.equal(progressedAt(8000, at(4, 4)), 7000, 'it was scaled after completion');
    assert.equal(progressedAt(90_000, at(1, 1, [second])), undefined);
    assert.equal(progressedAt(91_000, at(1, 2, [second])), 91_000);
  });

  it('starts over with each restart', () => {
    const seen = after([2000, record(true)], [5000, record(false)], [90_000, record(true, [second])]);
    assert.deepEqual(seen, { completeSince: 90_000, completedFor: undefined, restarts: [second] });
  });

  it('starts over with a recreated workload', () => {
    const seen = after([2000, record(true)], [5000, record(true, [first], { uid: 'another' })]);
    assert.equal(seen.completeSince, 5000);
  });

  it('distinguishes kinds', () => {
    const completions = new Completions();
    completions.note(record(true), 2000);
    const other = { ...record(true), kind: 'StatefulSet' };
    completions.note(other, 3000);
    assert.deepEqual([completions.of(record(true)).completeSince, completions.of(other).completeSince], [2000, 3000]);
  });

  it('keeps the restarts when a user removes or reverts the annotation', () => {
    for (const left of [[], [first]]) {
      const seen = after([90_000, record(false, [second])], [91_000, record(true, left)]);
      assert.deepEqual(seen, { completeSince: 91_000, completedFor: undefined, restarts: [second] });
    }
    assert.deepEqual(after([2000, record(true, [first, logs])], [3000, record(true, [])]).restarts, [first, logs]);
    assert.equal(after([2000, record(true)], [5000, record(true, [])]).completeSince, 2000);
  });

  it('has no observations before the first change, and forgets a deleted workload', () => {
    const completions = new Completions();
    assert.equal(completions.of(record(true)).completeSince, undefined);
    completions.note(record(true), 2000);
    completions.forget(record(true));
    const { completeSince, restarts } = completions.of(record(true));
    assert.deepEqual([completeSince, restarts], [undefined, [first]]);
    assert.deepEqual(completions.of(record(true, [])).restarts, []);
  });

  it('reports whether a workload without a restart is complete', () => {
    const completions = new Completions();
    completions.note(record(true, []), 2000);
    assert.equal(completions.of(record(true, [])).completeSince, 0);
    assert.equal(completions.of(record(false, [])).completeSince, undefined);
  });

  it('treats a restart as overtaken until the next one for that tag', () => {
    const completions = new Completions();
    const overtaken = () => [...completions.of(record(true)).overtaken];
    completions.note(record(true, [first, logs]), 2000);
    assert.deepEqual(overtaken(), []);
    completions.overtake(record(true), 'prod');
    completions.note(record(false, [first, logs]), 3000);
    assert.deepEqual(overtaken(), ['prod']);
    completions.note(record(false, [{ ...logs, at: 80_000 }, first]), 80_000);
    assert.deepEqual(overtaken(), ['prod'], 'the new restart is for another tag');
    completions.note(record(false, [second, logs]), 90_000);
    assert.deepEqual(overtaken(), []);
    completions.overtake(record(true, [], { uid: 'another' }), 'prod');
    assert.deepEqual(overtaken(), [], 'the workload was recreated');
  });
});
