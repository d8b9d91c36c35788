import assert from 'node:assert/strict';
import { defaultCertificatePolicy } from '../certificate-policy.ts';
import { rotate } from './rotation.ts';
import { keyPool } from '../testdata/key-pool.ts';
import { decide, decided, settledWorld } from '../testdata/settled-world.ts';
import { second, shortPolicy, World } from '../testdata/world.ts';
import { verifyServingPair } from '../verify-chain.ts';

describe('rotate, when time was lost or clocks are wrong', () => {
  before(keyPool);

  it('swaps at once when the leaf has expired: every admission fails already', async () => {
    const world = await settledWorld();
    world.now += shortPolicy.caDuration + second;
    assert.deepEqual(await decide(world), ['Staged Authority', 'Swapped Authority', 'Issued ServingCertificate']);
    assert.deepEqual(verifyServingPair(world.serving!, { now: new Date(world.now) }), []);
  });

  for (const hours of [-24, 24]) {
    it(`does nothing for a clock that jumps by ${hours} hours while nothing is due, and nothing wrong if something is`, async () => {
      const world = new World();
      world.policy = defaultCertificatePolicy;
      await world.pass();
      await world.pass();
      world.sync(0);
      world.advance(48 * 3600 * second);
      world.skew = hours * 3600 * second;
      assert.deepEqual(await decide(world), []);
      // Far enough for leaves and an authority to be issued by the wrong clock.
      const issued = new Set<string>();
      while (world.now < Date.UTC(2026, 11, 1)) {
        world.advance(world.last!.nextAt.getTime() - world.now - world.skew);
        await world.pass();
        decided(world).forEach((change) => issued.add(change));
        world.syncAll();
      }
      assert.equal(issued.has('Swapped Authority'), true);
      world.skew = 0;
      await world.pass();
      assert.equal(decided(world).includes('Staged Authority'), false);
      await world.settle();
    });
  }

  it('replaces what was issued by a clock that was further ahead, overlapped as ever', async () => {
    const world = await settledWorld();
    const { serving } = world.last!;
    world.skew = -30 * 3600 * second;
    const rotation = await rotate(world.input());
    assert.deepEqual(
      rotation.changes.map(
        ({ kind, subject, message }) =>
          `${kind} ${subject}: ${message.replace(/[0-9a-f]{8}/, '…').replace(/from \S+:/, 'from …:')}`,
      ),
      [
        'Staged Authority: authority …: valid only from …: a clock was wrong when it was issued',
        'Published Authority: authority … is read back from every webhook configuration',
      ],
    );
    assert.equal(rotation.phase, 'Publishing');
    assert.equal(rotation.serving?.certificatePem, serving!.certificatePem);
    assert.equal(rotation.caBundlePem.includes(serving!.caPem), true);
  });
});
