import assert from 'node:assert/strict';
import fc from 'fast-check';
import { defaultCertificatePolicy } from '../certificate-policy.ts';
import { readCertificate } from '../read-certificate.ts';
import { damages } from '../testdata/damages.ts';
import { keyPool } from '../testdata/key-pool.ts';
import { SecretOwner } from '../testdata/secret-owner.ts';
import { names, second, World } from '../testdata/world.ts';

/** Who issues from now on, or what the owner of the Secret does. */
type Turn = 'SelfSigned' | 'Secret' | 'Unavailable' | 'RenewLeaf' | 'ReplaceAuthority';

const step = fc.record({
  turn: fc.option(
    fc.constantFrom<Turn>('SelfSigned', 'Secret', 'Secret', 'Unavailable', 'RenewLeaf', 'ReplaceAuthority'),
    {
      nil: undefined,
      freq: 2,
    },
  ),
  seconds: fc.integer({ min: 0, max: 200 }),
  writes: fc.constantFrom(0, 1, 2, 3, 4, 4, 4),
  synced: fc.subarray([0, 1]),
});

describe('rotate, whoever issues', function () {
  this.timeout(120_000);
  before(keyPool);

  it('never publishes a bundle that a leaf in use fails, whatever is damaged and whoever takes over, and comes to rest', async () => {
    const damage = fc.option(fc.constantFrom(...Object.keys(damages)), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), damage, fc.nat(), async (steps, broken, seed) => {
        const world = new World();
        const owner = new SecretOwner(names);
        let issuer: 'SelfSigned' | 'Secret' | 'Unavailable' = 'SelfSigned';
        const pass = async (writes?: number): Promise<void> => {
          world.source =
            issuer === 'Secret' ? await owner.source(world.now) : issuer === 'SelfSigned' ? undefined : issuer;
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
        // And over to the Secret, from whatever it came to.
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

  it('renews neither too early nor too late by more than a clock is wrong, whoever leads with which clock', async () => {
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
          const left = readCertificate(world.serving!.certificatePem).notAfter.getTime() - world.now;
          assert.ok(left > 0, `${left / hour} h left`);
        }
      }),
      { numRuns: 15 },
    );
  });
});
