import assert from 'node:assert/strict';
import { bundleFingerprints, parseBundle, readChain } from '../read-certificate.ts';
import { isAccepted } from './rotation-state.ts';
import { foreignPair } from '../testdata/damages.ts';
import { keyPool } from '../testdata/key-pool.ts';
import { decide, decided, settledWorld, worldBeforeRotation } from '../testdata/settled-world.ts';
import { second, shortPolicy, World } from '../testdata/world.ts';
import { defaultCertificatePolicy } from '../certificate-policy.ts';
import { rotate } from './rotation.ts';
import { parsePair, verifyServingPair } from '../verify-chain.ts';

describe('rotate, after a loss or a write by another client', () => {
  before(keyPool);

  for (const [what, stored] of Object.entries({ deleted: undefined, emptied: {} })) {
    it(`serves the old leaf until both authorities are trusted when the stored Secret is ${what}`, async () => {
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

  it('issues nothing when only the record of times is lost', async () => {
    const world = await settledWorld();
    const { caBundlePem, serving } = world.last!;
    world.stored = { ...world.stored, 'rotation.json': '' };
    await world.pass();
    const changes = decided(world).filter((change) => !change.startsWith('Published'));
    assert.deepEqual(changes, ['Repaired StoredState']);
    assert.deepEqual([world.last!.caBundlePem, world.last!.serving], [caBundlePem, serving]);
  });

  it('restores the serving Secret immediately from the stored state', async () => {
    const world = await settledWorld();
    const good = world.serving;
    for (const damage of [undefined, { ...good!, privateKeyPem: 'garbage' }, await foreignPair(world.now)]) {
      world.serving = damage;
      assert.deepEqual(await decide(world), ['Repaired ServingSecret']);
      assert.deepEqual(world.serving, good);
    }
  });

  it('repairs a foreign bundle and drops its authorities', async () => {
    const world = await settledWorld();
    const { caBundlePem } = world.last!;
    world.publish('one', (await foreignPair(world.now)).caPem, true);
    assert.deepEqual(await decide(world), ['Repaired Bundle']);
    assert.equal(world.last!.caBundlePem, caBundlePem);
  });

  it('keeps every published authority, for lagging replicas, when the state is lost immediately after a swap', async () => {
    const world = await worldBeforeRotation();
    await world.pass();
    await world.pass();
    world.advance(shortPolicy.confirmationPeriod);
    await world.pass();
    world.sync(0);
    world.stored = undefined;
    const { certificatePem } = world.serving!;
    const issuer = parseBundle(world.serving!.caPem).find((authority) =>
      isAccepted(parseBundle(certificatePem), [authority], new Date(world.now)),
    );
    world.serving = { ...world.serving!, caPem: issuer!.pem };
    await world.pass();
    assert.equal(bundleFingerprints(world.last!.caBundlePem).size, 3);
    await world.settle();
  });

  it('keeps the live leaf when the state is restored from an old backup', async () => {
    const world = await settledWorld();
    const backup = world.stored;
    for (let rotation = 0; rotation < 2; rotation++) {
      const { fingerprint } = readChain(world.stored!['ca.crt']!)[0];
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

  it('moves to a complete stored state of another installation, and trusts both meanwhile', async () => {
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

  it('waits until the bundle is published, but not forever, when both Secrets are lost', async () => {
    const world = await settledWorld();
    // The lag of the API servers is shorter than the wait that applies if no valid leaf is known.
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

describe('rotate, after a pause or with wrong clocks', () => {
  before(keyPool);

  it('swaps immediately when the leaf has expired, since every admission already fails', async () => {
    const world = await settledWorld();
    world.now += shortPolicy.caDuration + second;
    assert.deepEqual(await decide(world), ['Staged Authority', 'Swapped Authority', 'Issued ServingCertificate']);
    assert.deepEqual(verifyServingPair(parsePair(world.serving!), { now: new Date(world.now) }), []);
  });

  for (const hours of [-24, 24]) {
    it(`survives a clock that is wrong by ${hours} hours, and does nothing while nothing is due`, async () => {
      const world = new World();
      world.policy = defaultCertificatePolicy;
      await world.pass();
      await world.pass();
      world.sync(0);
      world.advance(48 * 3600 * second);
      world.skew = hours * 3600 * second;
      assert.deepEqual(await decide(world), []);
      // Runs long enough for the wrong clock to issue leaves and an authority.
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

  it('replaces certificates that a fast clock dated too far ahead, and trusts both meanwhile', async () => {
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
        'Published Authority: authority … is in the caBundle of every webhook configuration',
      ],
    );
    assert.equal(rotation.phase, 'Publishing');
    assert.equal(rotation.serving?.certificatePem, serving!.certificatePem);
    assert.equal(rotation.caBundlePem.includes(serving!.caPem), true);
  });
});
