import assert from 'node:assert/strict';
import { bundleFingerprints, readChain } from '../read-certificate.ts';
import { rotate } from './rotation.ts';
import { keyPool } from '../testdata/key-pool.ts';
import { decide, decided, settledWorld, worldBeforeRotation } from '../testdata/settled-world.ts';
import { names, second, shortPolicy, World } from '../testdata/world.ts';
import { parsePair, verifyServingPair } from '../verify-chain.ts';

describe('rotate', () => {
  before(keyPool);

  it('issues everything in the first pass, when no webhook configuration exists', async () => {
    const world = new World();
    const { phase, serving, caBundlePem, stored } = await world.pass();
    assert.ok(serving);
    assert.deepEqual(decided(world), ['Issued Authority', 'Issued ServingCertificate']);
    assert.equal(phase, 'Stable');
    assert.equal(serving.caPem, caBundlePem);
    assert.equal(serving.fingerprint, readChain(serving.certificatePem)[0].fingerprint);
    assert.equal(serving.caNotAfter.getTime(), world.now + shortPolicy.caDuration);
    assert.equal(serving.notAfter.getTime(), world.now + shortPolicy.leafDuration);
    assert.equal(stored['tls.crt'], serving.certificatePem);
    const expected = { now: new Date(world.now), names: ['sidecar-injector-a.injection.svc'] };
    assert.deepEqual(verifyServingPair(parsePair(serving), expected), []);
  });

  it('changes nothing while nothing is due', async () => {
    const world = await settledWorld();
    const before = { ...world.last! };
    world.advance(60 * second);
    await world.pass();
    assert.deepEqual(world.last, { ...before, changes: [] });
  });

  it('renews a leaf under the same authority without waiting and without changing the bundle', async () => {
    const world = await settledWorld();
    const { caBundlePem, nextAt, renewAt, serving } = world.last!;
    assert.deepEqual(nextAt, renewAt);
    const life = shortPolicy.leafDuration;
    const share = (renewAt.getTime() - Date.UTC(2026, 0, 1)) / life;
    assert.equal(share > 0.6 - 1e-9 && share <= 2 / 3, true, `renewal at ${share} of the life`);
    world.advance(nextAt.getTime() - world.now - 1);
    assert.deepEqual(await decide(world), []);
    world.advance(1);
    assert.deepEqual(await decide(world), ['Issued ServingCertificate']);
    assert.equal(world.last!.caBundlePem, caBundlePem);
    assert.notEqual(world.last!.serving?.fingerprint, serving?.fingerprint);
  });

  it('rotates an authority in phases: stage, publish, confirm, swap, retire', async () => {
    const world = await worldBeforeRotation();
    const old = world.serving!;
    const [oldAuthority] = bundleFingerprints(old.caPem);

    // The operator stages and publishes in one pass, and stops after the first webhook.
    assert.deepEqual(await decide(world, 3), ['Staged Authority']);
    assert.equal(world.last!.phase, 'Publishing');
    assert.equal(world.serving!.certificatePem, old.certificatePem);
    assert.equal(bundleFingerprints(world.last!.caBundlePem).size, 2);

    // One webhook still lacks the new authority: the confirmation period does not start.
    world.advance(shortPolicy.confirmationPeriod);
    await world.pass(0);
    assert.equal(world.last!.phase, 'Publishing');
    assert.deepEqual(await decide(world), []);

    // Every webhook has the new authority: the confirmation period starts.
    assert.deepEqual(await decide(world), ['Published Authority']);
    assert.equal(world.last!.phase, 'Confirming');
    assert.equal(world.last!.nextAt.getTime(), world.now + shortPolicy.confirmationPeriod);
    const bundle = world.last!.caBundlePem;
    world.advance(shortPolicy.confirmationPeriod - 1);
    await world.pass();
    assert.equal(world.serving!.certificatePem, old.certificatePem);

    // The operator swaps the leaf; the bundle stays the same.
    world.advance(1);
    assert.deepEqual(await decide(world), ['Swapped Authority', 'Issued ServingCertificate']);
    assert.equal(world.last!.phase, 'Retiring');
    assert.notEqual(world.serving!.certificatePem, old.certificatePem);
    assert.equal(world.last!.caBundlePem, bundle);

    // A lagging replica serves its leaf until expiry. Only then is the old authority removed.
    const end = readChain(old.certificatePem)[0].notAfter.getTime();
    world.sync(0);
    world.advance(end - 1 - world.now);
    await world.pass();
    assert.equal(bundleFingerprints(world.last!.caBundlePem).has(oldAuthority!), true);
    world.advance(1);
    assert.deepEqual(await decide(world), ['Retired Authority']);
    assert.equal(bundleFingerprints(world.last!.caBundlePem).has(oldAuthority!), false);
    assert.equal(world.last!.phase, 'Stable');
  });

  it('restarts the confirmation period when a webhook loses the new authority', async () => {
    const world = await worldBeforeRotation();
    const before = world.serving!.caPem;
    await world.pass();
    await world.pass();
    world.advance(shortPolicy.confirmationPeriod - 1);
    world.publish('two', before, true);
    assert.deepEqual(await decide(world), ['Repaired Bundle']);
    assert.equal(world.last!.phase, 'Publishing');
    await world.pass();
    world.advance(shortPolicy.confirmationPeriod - 1);
    await world.pass();
    assert.equal(world.last!.phase, 'Confirming');
  });

  it('keeps renewing the leaf under the old authority while the new authority cannot be published', async () => {
    const world = await worldBeforeRotation();
    const old = readChain(world.stored!['ca.crt']!)[0];
    let issued = 0;
    for (let pass = 0; pass < 400 && world.now < old.notAfter.getTime() - second; pass++) {
      await world.pass(2);
      issued += decided(world).filter((change) => change === 'Issued ServingCertificate').length;
      world.advance(Math.min(60 * second, old.notAfter.getTime() - second - world.now));
    }
    assert.equal(issued > 0 && issued < 5, true, `${issued} leaves`);
    assert.equal(world.last!.phase, 'Publishing');
    assert.deepEqual(readChain(world.serving!.certificatePem)[0].notAfter, old.notAfter);
    world.advance(second);
    await world.settle();
  });

  it('replaces a staged authority that has waited for most of its lifetime', async () => {
    const world = await settledWorld();
    world.policy = { ...world.policy, caDuration: 2900 * second };
    let staged = 0;
    for (let minute = 0; minute < 40; minute++) {
      await world.pass(2);
      staged += decided(world).filter((change) => change === 'Staged Authority').length;
      world.advance(60 * second);
    }
    assert.equal(staged, 2);
    await world.settle();
  });

  it('keeps an authority while its leaf is in use, even if the record is lost', async () => {
    const world = await settledWorld();
    const [old] = bundleFingerprints(world.serving!.caPem);
    world.policy = { ...world.policy, leafDuration: 100 * second };
    const lost = ['ca.key', 'rotation.json'];
    world.stored = Object.fromEntries(Object.entries(world.stored!).filter(([key]) => !lost.includes(key)));
    for (let pass = 0; pass < 10; pass++) {
      // The webhooks are never updated, so the leaf cannot be swapped.
      await world.pass(2);
      assert.equal(decided(world).includes('Retired Authority'), false);
      assert.equal(bundleFingerprints(world.last!.caBundlePem).has(old!), true);
      world.advance(50 * second);
    }
  });

  it('reissues certificates when the policy or the names change', async () => {
    const world = await settledWorld();
    world.policy = { ...world.policy, leafDuration: 700 * second };
    assert.deepEqual(await decide(world), ['Issued ServingCertificate']);
    world.policy = { ...world.policy, caDuration: 4000 * second };
    assert.deepEqual(await decide(world), ['Staged Authority']);
    world.policy = { ...world.policy, keySize: 3072 };
    await world.pass();
    assert.deepEqual(
      world.last!.changes.map(({ message }) => message.replace(/[0-9a-f]{8}/, '…')),
      [
        'authority …: issued for 50m, now 4000s is required',
        'serving certificate …: issued with 2048 bits, now 3072 are required',
      ],
    );
    const hosts = ['10.1.2.3', 'injector.example.com'];
    const { changes } = await rotate({ ...world.input(), names: { ...names, hosts } });
    assert.equal(
      changes.find(({ kind }) => kind === 'Issued')?.message.replace(/[0-9a-f]{8}/, '…'),
      'serving certificate …: the serving certificate lacks injector.example.com, 10.1.2.3',
    );
  });

  it('rejects an invalid policy or name before it generates a key', async () => {
    const generateKeyPair = () => Promise.reject(new Error('no key is needed'));
    for (const [wrong, field] of [
      [{ policy: { ...shortPolicy, leafDuration: shortPolicy.caDuration } }, 'leafDuration'],
      [{ names: { ...names, hosts: ['a b'] } }, 'hosts[0]'],
    ] as const) {
      const input = { ...new World().input(), generateKeyPair, ...wrong };
      await assert.rejects(rotate(input), { name: 'CertificatePolicyError', field });
    }
  });

  it('never reports or publishes a private key', async () => {
    const world = await settledWorld();
    world.stored = { ...world.stored, 'ca.key': 'garbage-key' };
    const { changes, caBundlePem, stored } = await world.pass();
    assert.doesNotMatch(JSON.stringify(changes) + caBundlePem + stored['rotation.json']!, /PRIVATE|garbage-key/);
  });
});
