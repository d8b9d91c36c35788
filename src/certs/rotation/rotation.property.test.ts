import fc from 'fast-check';
import { keyPool } from '../testdata/key-pool.ts';
import { damages } from '../testdata/damages.ts';
import { second, World } from '../testdata/world.ts';

/** What may happen to a healthy system, at any time and in any order. */
type Step =
  | { readonly kind: 'pass'; readonly writes: number }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'sync'; readonly replica: number }
  | { readonly kind: 'deadline' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), writes: fc.constantFrom(0, 1, 2, 3, 4, 4, 4) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 400 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sync' as const), replica: fc.constantFrom(0, 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('deadline' as const) }) },
);

const age = fc.integer({ min: 0, max: 12 });

/** A world that has lived through some deadlines, so that rotations are met half-way; the second replica lags behind. */
async function agedWorld(deadlines: number): Promise<World> {
  const world = new World();
  for (let count = 0; count < deadlines; count++) {
    await run(world, [{ kind: 'deadline' }, { kind: 'sync', replica: 0 }]);
  }
  return world;
}

async function run(world: World, steps: readonly Step[]): Promise<void> {
  for (const one of steps) {
    if (one.kind === 'pass') {
      await world.pass(one.writes);
    } else if (one.kind === 'wait') {
      world.advance(one.seconds * second);
    } else if (one.kind === 'sync') {
      world.sync(one.replica);
    } else {
      world.advance(Math.max((world.last?.nextAt.getTime() ?? 0) - world.now, 0));
      await world.pass();
    }
  }
}

describe('rotate, from any reachable state', function () {
  this.timeout(120_000);
  before(keyPool);

  it('never publishes a bundle that a leaf in use fails, whatever the operator is killed after, and comes to rest', async () => {
    await fc.assert(
      fc.asyncProperty(age, fc.array(step, { maxLength: 30 }), async (deadlines, steps) => {
        const world = await agedWorld(deadlines);
        await run(world, steps);
        await world.settle();
      }),
      { numRuns: 30 },
    );
  });

  it('converges after any single object is lost or corrupted, with no admission lost by our own doing', async () => {
    await fc.assert(
      fc.asyncProperty(
        age,
        fc.array(step, { maxLength: 20 }),
        fc.constantFrom(...Object.keys(damages)),
        fc.nat(),
        fc.array(step, { maxLength: 10 }),
        async (deadlines, before, damage, seed, after) => {
          const world = await agedWorld(deadlines);
          await run(world, before);
          await damages[damage]?.(world, seed);
          await run(world, after);
          await world.settle();
        },
      ),
      { numRuns: 60 },
    );
  });
});
