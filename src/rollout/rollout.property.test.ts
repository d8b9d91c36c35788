import assert from 'node:assert/strict';
import fc from 'fast-check';
import { World, type Happening } from './testdata/world.ts';

const steps = fc
  .tuple(
    fc.integer({ min: 0, max: 2 }),
    fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }),
    fc.constantFrom(undefined, '30s', '10m', 'UntilResumed'),
  )
  .filter(([shadows, weights]) => shadows + weights.length > 0)
  .map(([shadows, weights, pause]) => [
    ...Array.from({ length: shadows }, () => ({ weight: 0, shadow: true })),
    ...weights
      .sort((one, other) => one - other)
      .map((weight, index) => ({
        weight,
        ...(pause && index % 2 === 0 ? { pause } : {}),
        ...(weight % 3 === 0 ? { minimumPods: weight } : {}),
      })),
  ]);
const revision = fc.constantFrom('1-24', '1-25', '1-25', '1-26');
const which = fc.nat(1000);
const of = <T extends Happening>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  of(8, fc.constant({ kind: 'pass' } as const)),
  of(8, fc.constant({ kind: 'deadline' } as const)),
  of(2, fc.constant({ kind: 'lostPass' } as const)),
  of(6, fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 90 }) })),
  of(6, fc.record({ kind: fc.constant('restart' as const), which })),
  of(2, fc.constant({ kind: 'create' } as const)),
  of(1, fc.record({ kind: fc.constant('remove' as const), which })),
  of(3, fc.record({ kind: fc.constant('down' as const), which })),
  of(2, fc.constant({ kind: 'takeOver' } as const)),
  of(1, fc.record({ kind: fc.constantFrom('fail' as const, 'heal' as const), which })),
  of(2, fc.record({ kind: fc.constant('revision' as const), revision })),
  of(1, fc.record({ kind: fc.constant('configuration' as const), revision })),
  of(1, fc.record({ kind: fc.constant('steps' as const), steps })),
  of(1, fc.record({ kind: fc.constant('known' as const), isKnown: fc.boolean() })),
  of(
    3,
    fc.record({ kind: fc.constant('compare' as const), failed: fc.integer({ min: 0, max: 19 }).map((n) => n === 0) }),
  ),
  of(
    1,
    fc.record({ kind: fc.constantFrom('promote' as const, 'abort' as const, 'retry' as const, 'resume' as const) }),
  ),
);

/** Changes of leaders while pods are recreated and steps are edited. */
const change: fc.Arbitrary<Happening> = fc.oneof(
  of(6, fc.constant({ kind: 'deadline' } as const)),
  of(3, fc.constant({ kind: 'takeOver' } as const)),
  of(4, fc.record({ kind: fc.constant('down' as const), which })),
  of(8, fc.record({ kind: fc.constant('restart' as const), which })),
  of(4, fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 0, max: 20 }) })),
  of(1, fc.record({ kind: fc.constant('steps' as const), steps })),
  of(1, fc.constant({ kind: 'resume' } as const)),
);

describe('a rollout, in random histories,', function () {
  this.timeout(120_000);

  it('keeps its invariants, and ends once all pods are healthy', () => {
    const reached = new Map<string, number>();
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        steps,
        fc.array(happening, { maxLength: 120, minLength: 20 }),
        (count, plan, history) => {
          const world = new World(count, plan);
          world.happen({ kind: 'revision', revision: '1-25' });
          for (const each of history) {
            world.happen(each);
            const { phase = 'none', reason = '' } = world.state ?? {};
            for (const each of [phase, reason]) reached.set(each, (reached.get(each) ?? 0) + 1);
          }
          world.settle();
        },
      ),
      { numRuns: 400 },
    );
    const phases = ['Idle', 'Shadowing', 'Progressing', 'WaitingForPods', 'Paused', 'RolledBack', 'Promoted'];
    const missed = [...phases, 'CountingWorkloads'].filter((each) => !reached.has(each));
    assert.deepEqual(missed, [], 'the histories reach every phase');
  });

  it('measures the share of all workloads, however often the leader changes', () => {
    let proven = 0;
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 12 }),
        steps,
        fc.array(change, { minLength: 30, maxLength: 120 }),
        (count, plan, history) => {
          const world = new World(count, plan, { minimumPods: 1, minReadySeconds: 0 });
          world.happen({ kind: 'revision', revision: '1-25' });
          for (const each of history) world.happen(each);
          world.settle();
          proven += world.provenAfterTakeOver;
        },
      ),
      { numRuns: 600 },
    );
    assert.ok(proven > 100, `only ${proven} steps began with a new leader`);
  });
});
