import fc from 'fast-check';
import { keyPool } from '../testdata/key-pool.ts';
import { damages } from '../testdata/damages.ts';
import { second, World, names } from '../testdata/world.ts';
import assert from 'node:assert/strict';
import { defaultCertificatePolicy } from '../certificate-policy.ts';
import { readChain } from '../read-certificate.ts';
import { SecretOwner } from '../testdata/secret-owner.ts';

/** The events in a healthy system. They occur in any order. */
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

/** Returns a world after some deadlines, possibly during a rotation, with a lagging replica. */
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

  it('never publishes a bundle that rejects a leaf in use, and settles after any crash of the operator', async () => {
    await fc.assert(
      fc.asyncProperty(age, fc.array(step, { maxLength: 30 }), async (deadlines, steps) => {
        const world = await agedWorld(deadlines);
        await run(world, steps);
        await world.settle();
      }),
      { numRuns: 30 },
    );
  });

  it('converges after the loss or damage of any object, without failing an admission', async () => {
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

/** A change of the issuer, or an action of the Secret's owner. */
type Issuer = 'SelfSigned' | 'Secret' | 'Another' | 'Unavailable';
type Turn = Issuer | 'RenewLeaf' | 'ReplaceAuthority';

const issuing = fc.record({
  turn: fc.option(
    fc.constantFrom<Turn>('SelfSigned', 'Secret', 'Another', 'Unavailable', 'RenewLeaf', 'ReplaceAuthority'),
    {
      nil: undefined,
      freq: 2,
    },
  ),
  seconds: fc.integer({ min: 0, max: 200 }),
  writes: fc.constantFrom(0, 1, 2, 3, 4, 4, 4),
  synced: fc.subarray([0, 1]),
});

describe('rotate, with any issuer', function () {
  this.timeout(120_000);
  before(keyPool);

  it('never publishes a bundle that rejects a leaf in use, and settles after any damage and change of issuer', async () => {
    const damage = fc.option(fc.constantFrom(...Object.keys(damages)), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(issuing, { maxLength: 25 }), damage, fc.nat(), async (steps, broken, seed) => {
        const world = new World();
        // Two owners, so that the issuer can also change from one Secret to another.
        const [owner, another] = [new SecretOwner(names), new SecretOwner(names, 78)];
        let issuer: Issuer = 'SelfSigned';
        const pass = async (writes?: number): Promise<void> => {
          if (issuer === 'SelfSigned') world.source = undefined;
          else if (issuer === 'Unavailable') world.source = issuer;
          else world.source = await (issuer === 'Secret' ? owner : another).source(world.now);
          await world.pass(writes);
        };
        for (const [index, { turn, seconds, writes, synced }] of steps.entries()) {
          if (turn === 'RenewLeaf') await owner.pair(world.now).then(() => owner.renewLeaf(world.now));
          else if (turn === 'ReplaceAuthority') await owner.replaceAuthority(world.now);
          else issuer = turn ?? issuer;
          await pass(writes);
          synced.forEach((replica) => {
            world.sync(replica);
          });
          if (broken !== undefined && index === Math.floor(steps.length / 2)) await damages[broken]?.(world, seed);
          world.advance(seconds * second);
        }
        world.source = undefined;
        await world.settle();
        // Moves from the reached state to the Secret as issuer.
        world.source = await owner.source(world.now);
        const { certificatePem } = await owner.pair(world.now);
        for (let passes = 0; passes < 8 && world.serving?.certificatePem !== certificatePem; passes++) {
          await world.pass();
          world.sync(0);
          world.advance(Math.min(world.last!.nextAt.getTime() - world.now, 60 * second));
        }
        assert.equal(world.serving?.certificatePem, certificatePem);
      }),
      { numRuns: 40 },
    );
  });

  it('renews within the clock error of the due time, for any sequence of leaders and clocks', async () => {
    const hour = 3600 * second;
    const { leafDuration, renewalFraction } = defaultCertificatePolicy;
    const skew = fc.constantFrom(0, 0, -600 * second, 600 * second, -24 * hour, 24 * hour);
    const days = fc.array(fc.record({ skew, hours: fc.integer({ min: 1, max: 12 }) }), {
      minLength: 40,
      maxLength: 80,
    });
    await fc.assert(
      fc.asyncProperty(days, async (leaders) => {
        const world = new World();
        world.policy = defaultCertificatePolicy;
        await world.pass();
        let since = world.now;
        for (const { skew, hours } of leaders) {
          world.advance(hours * hour);
          world.skew = skew;
          const before = world.serving?.certificatePem;
          await world.pass();
          world.syncAll();
          const age = world.now - since;
          const due = leafDuration * renewalFraction;
          if (world.serving?.certificatePem !== before) {
            assert.ok(age >= due * 0.9 - 49 * hour, `renewed after ${age / hour} h`);
            since = world.now;
          } else {
            assert.ok(age <= due + 61 * hour, `not renewed after ${age / hour} h`);
          }
          const left = readChain(world.serving!.certificatePem)[0].notAfter.getTime() - world.now;
          assert.ok(left > 0, `${left / hour} h left`);
        }
      }),
      { numRuns: 15 },
    );
  });
});
