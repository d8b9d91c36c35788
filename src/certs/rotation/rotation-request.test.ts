import assert from 'node:assert/strict';
import { bundleFingerprints, parseBundle } from '../read-certificate.ts';
import { keyPool } from '../testdata/key-pool.ts';
import { decided, settledWorld } from '../testdata/settled-world.ts';
import { second, shortPolicy, type World } from '../testdata/world.ts';

describe('rotate, for a renewal request', () => {
  before(keyPool);

  /** Runs passes until the request is done; returns decisions, phase and request state per pass. */
  async function renew(world: World, target: 'leaf' | 'authority' | 'authority-force'): Promise<string[]> {
    world.request = { nonce: `${target}-1`, target };
    const seen: string[] = [];
    for (let passes = 0; passes < 60; passes++) {
      const { request, phase, nextAt } = await world.pass();
      world.syncAll();
      seen.push([...decided(world), phase, request?.state ?? 'None'].join(', '));
      if (request?.state === 'Done') break;
      world.advance(nextAt.getTime() - world.now);
    }
    return seen;
  }

  it('renews a leaf once', async () => {
    const world = await settledWorld();
    const before = world.last!.serving!.fingerprint;
    assert.deepEqual(await renew(world, 'leaf'), ['Issued ServingCertificate, Stable, Done']);
    const { serving, stored } = world.last!;
    assert.notEqual(serving!.fingerprint, before);
    const { changes, ...again } = await world.pass();
    assert.deepEqual([changes, again.stored, again.serving], [[], stored, serving]);
  });

  it('renews an authority with the usual waits, and keeps the old authority until it expires', async () => {
    const world = await settledWorld();
    const seen = await renew(world, 'authority');
    assert.deepEqual(seen.slice(0, 2), [
      'Staged Authority, Publishing, Accepted',
      'Published Authority, Confirming, Accepted',
    ]);
    assert.equal(seen.at(-1), 'Swapped Authority, Issued ServingCertificate, Retiring, Done');
    assert.equal(parseBundle(world.last!.caBundlePem).length, 2);
    await world.settle();
    assert.equal(world.last!.request?.state, 'Done');
  });

  it('renews an authority by force, and removes the old authority once replicas had time to reload', async () => {
    const world = await settledWorld();
    const [old] = parseBundle(world.last!.caBundlePem);
    const begun = world.now;
    const seen = await renew(world, 'authority-force');
    assert.equal(seen.at(-1), 'Retired Authority, Stable, Done');
    const bundle = bundleFingerprints(world.last!.caBundlePem);
    assert.equal(bundle.size, 1);
    assert.equal(bundle.has(old!.fingerprint), false);
    const least = 2 * shortPolicy.confirmationPeriod;
    assert.ok(world.now - begun >= least && world.now - begun < least + 30 * second, `${world.now - begun} ms`);
  });

  it('also replaces the staged authority when it renews an authority by force during a rotation', async () => {
    const world = await settledWorld();
    world.request = { nonce: 'first', target: 'authority' };
    await world.pass();
    const known = bundleFingerprints(world.last!.caBundlePem);
    assert.equal(known.size, 2);
    world.advance(second);
    assert.match((await renew(world, 'authority-force')).at(-1) ?? '', /Done$/);
    const remaining = [...bundleFingerprints(world.last!.caBundlePem)];
    assert.deepEqual([remaining.length, remaining.some((fingerprint) => known.has(fingerprint))], [1, false]);
    await world.settle();
  });

  it('renews an authority by force even if the first writes of the new leaf fail', async () => {
    const world = await settledWorld();
    world.request = { nonce: 'n', target: 'authority-force' };
    while (!decided(world).includes('Swapped Authority')) {
      await world.pass(1);
      world.advanceToNext();
      world.publish('one', world.last!.caBundlePem);
      world.publish('two', world.last!.caBundlePem);
    }
    await world.pass(1);
    assert.equal(world.last!.request?.state, 'Accepted');
    assert.match((await renew(world, 'authority-force')).at(-1) ?? '', /Done$/);
    await world.settle();
  });

  it('renews a leaf from the successor if its authority has expired', async () => {
    const world = await settledWorld();
    world.advance(shortPolicy.caDuration + second);
    world.request = { nonce: 'late', target: 'leaf' };
    await world.pass();
    await world.settle();
    assert.deepEqual(world.last!.request, { nonce: 'late', target: 'leaf', state: 'Done' });
  });
});
