import assert from 'node:assert/strict';
import { bundleFingerprints, parseBundle, readCertificate } from '../read-certificate.ts';
import { isAccepted } from './rotation-state.ts';
import { foreignPair } from '../testdata/damages.ts';
import { keyPool } from '../testdata/key-pool.ts';
import { decide, decided, settledWorld, worldBeforeRotation } from '../testdata/settled-world.ts';
import { second, shortPolicy, World } from '../testdata/world.ts';
import { defaultCertificatePolicy } from '../certificate-policy.ts';
import { rotate } from './rotation.ts';
import { verifyServingPair } from '../verify-chain.ts';

describe('rotate, when something is lost or somebody else has written', () => {
  before(keyPool);

  for (const [what, stored] of Object.entries({ deleted: undefined, emptied: {} })) {
    it(`with the stored Secret ${what}, serves the old leaf until a new authority is trusted beside the old one`, async () => {
      const world = await settledWorld();
      const old = world.serving!;
      world.stored = stored;
      await world.pass();
      assert.equal(decided(world).includes('Staged Authority'), true);
      assert.equal(decided(world).includes('Repaired Bundle'), true);
      assert.equal(world.serving!.certificatePem, old.certificatePem);
      assert.equal(world.last!.caBundlePem.includes(old.caPem), true);
      await world.pass();
      world.advance(shortPolicy.confirmationPeriod);
      await world.pass();
      assert.notEqual(world.serving!.certificatePem, old.certificatePem);
      assert.equal(world.last!.caBundlePem.includes(old.caPem), true);
    });
  }

  it('makes nothing anew when only the record of times is lost', async () => {
    const world = await settledWorld();
    const { caBundlePem, serving } = world.last!;
    world.stored = { ...world.stored, 'rotation.json': '' };
    await world.pass();
    const changes = decided(world).filter((change) => !change.startsWith('Published'));
    assert.deepEqual(changes, ['Repaired StoredState']);
    assert.deepEqual([world.last!.caBundlePem, world.last!.serving], [caBundlePem, serving]);
  });

  it('restores the serving Secret at once from what is stored', async () => {
    const world = await settledWorld();
    const good = world.serving;
    for (const damage of [undefined, { ...good!, privateKeyPem: 'garbage' }, await foreignPair(world.now)]) {
      world.serving = damage;
      assert.deepEqual(await decide(world), ['Repaired ServingSecret']);
      assert.deepEqual(world.serving, good);
    }
  });

  it('repairs a bundle of somebody else without keeping what they put there', async () => {
    const world = await settledWorld();
    const { caBundlePem } = world.last!;
    world.publish('one', (await foreignPair(world.now)).caPem, true);
    assert.deepEqual(await decide(world), ['Repaired Bundle']);
    assert.equal(world.last!.caBundlePem, caBundlePem);
  });

  it('keeps every published authority when the state is lost right after a swap, since a replica may lag', async () => {
    const world = await worldBeforeRotation();
    await world.pass();
    await world.pass();
    world.advance(shortPolicy.confirmationPeriod);
    await world.pass();
    world.sync(0);
    world.stored = undefined;
    const { certificatePem } = world.serving!;
    const issuer = parseBundle(world.serving!.caPem).find(({ pem }) =>
      isAccepted(certificatePem, pem, new Date(world.now)),
    );
    world.serving = { ...world.serving!, caPem: issuer!.pem };
    await world.pass();
    assert.equal(bundleFingerprints(world.last!.caBundlePem).size, 3);
    await world.settle();
  });

  it('defers to a live system that an old backup of the state does not know', async () => {
    const world = await settledWorld();
    const backup = world.stored;
    for (let rotation = 0; rotation < 2; rotation++) {
      const { fingerprint } = readCertificate(world.stored!['ca.crt']!);
      while (bundleFingerprints(world.last!.caBundlePem).has(fingerprint)) {
        world.advanceToNext();
        await world.pass();
        world.syncAll();
      }
    }
    const live = world.serving!;
    world.stored = backup;
    await world.pass();
    assert.equal(world.serving!.certificatePem, live.certificatePem);
    assert.equal(world.last!.caBundlePem.includes(live.caPem), true);
    await world.settle();
  });

  it('moves to a stored state that is whole but of another installation, with overlap', async () => {
    const world = await settledWorld();
    const live = world.serving!;
    const other = new World(7);
    world.stored = (await other.pass()).stored;
    await world.pass();
    assert.equal(world.last!.phase, 'Confirming');
    assert.equal(world.serving!.certificatePem, live.certificatePem);
    assert.equal(bundleFingerprints(world.last!.caBundlePem).size, 2);
    await world.pass();
    world.advanceToNext();
    await world.pass();
    assert.equal(world.last!.phase, 'Retiring');
    assert.equal(world.serving!.certificatePem, other.serving!.certificatePem);
    await world.settle();
  });

  it('with both Secrets lost, waits until the bundle is read back, but not for ever', async () => {
    const world = await settledWorld();
    // What the API servers' views may lag by is bounded by the short wait here.
    world.lag = 4 * second;
    world.stored = undefined;
    world.serving = undefined;
    const { serving, caBundlePem } = await world.pass();
    assert.equal(serving, undefined);
    assert.equal(parseBundle(caBundlePem).length, 2);
    await world.pass();
    world.advance(5 * second);
    await world.pass();
    assert.notEqual(world.serving, undefined);

    const stuck = await settledWorld();
    stuck.stored = undefined;
    stuck.serving = undefined;
    await stuck.pass(1);
    stuck.now += shortPolicy.confirmationPeriod;
    assert.notEqual((await stuck.pass(0)).serving, undefined);
  });
});

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
