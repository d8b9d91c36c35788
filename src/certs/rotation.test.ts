import assert from 'node:assert/strict';
import { bundleFingerprints, parseBundle } from './bundle.ts';
import { defaultCertificatePolicy } from './certificate-policy.ts';
import { readCertificate } from './read-certificate.ts';
import { isAccepted } from './rotation-bundle.ts';
import { rotate } from './rotation.ts';
import { foreignPair } from './testdata/damages.ts';
import { keyPool, pooledKeys, seededBytes } from './testdata/key-pool.ts';
import { names, second, shortPolicy, World } from './testdata/world.ts';
import { verifyServingPair } from './verify-chain.ts';

/** What a pass decided, in short. */
function decided(world: World): string[] {
  return world.last!.changes.map(({ kind, subject }) => `${kind} ${subject}`);
}

/** A world with certificates and configurations, at rest. */
async function settledWorld(): Promise<World> {
  const world = new World();
  await world.pass();
  await world.pass();
  world.sync(0);
  world.sync(1);
  return world;
}

/** The same at the moment when the authority is due. */
async function worldBeforeRotation(): Promise<World> {
  const world = await settledWorld();
  for (;;) {
    world.advance(world.last!.nextAt.getTime() - world.now);
    // Without a write: only to look.
    await world.pass(0);
    if (decided(world).includes('Staged Authority')) {
      return world;
    }
    await world.pass();
    world.sync(0);
    world.sync(1);
  }
}

describe('rotate', () => {
  before(keyPool);

  it('issues everything at once the first time, when nothing calls us yet', async () => {
    const world = new World();
    const { phase, serving, caBundlePem, stored } = await world.pass();
    assert.ok(serving);
    assert.deepEqual(decided(world), ['Issued Authority', 'Issued ServingCertificate']);
    assert.equal(phase, 'Stable');
    assert.equal(serving.caPem, caBundlePem);
    assert.equal(serving.fingerprint, readCertificate(serving.certificatePem).fingerprint);
    assert.equal(serving.caNotAfter.getTime(), world.now + shortPolicy.caDuration);
    assert.equal(serving.notAfter.getTime(), world.now + shortPolicy.leafDuration);
    assert.equal(stored['tls.crt'], serving.certificatePem);
    assert.deepEqual(
      verifyServingPair(serving, { now: new Date(world.now), names: ['sidecar-injector-a.injection.svc'] }),
      [],
    );
  });

  it('changes nothing while nothing is due, not a byte', async () => {
    const world = await settledWorld();
    const before = { ...world.last! };
    world.advance(60 * second);
    await world.pass();
    assert.deepEqual(world.last, { ...before, changes: [] });
  });

  it('renews a leaf under the same authority without waiting or touching the bundle', async () => {
    const world = await settledWorld();
    const { caBundlePem, nextAt, renewAt, serving } = world.last!;
    assert.deepEqual(nextAt, renewAt);
    const life = shortPolicy.leafDuration;
    const share = (renewAt.getTime() - Date.UTC(2026, 0, 1)) / life;
    assert.equal(share > 0.6 - 1e-9 && share <= 2 / 3, true, `renewal at ${share} of the life`);
    world.advance(nextAt.getTime() - world.now - 1);
    await world.pass();
    assert.deepEqual(decided(world), []);
    world.advance(1);
    await world.pass();
    assert.deepEqual(decided(world), ['Issued ServingCertificate']);
    assert.equal(world.last!.caBundlePem, caBundlePem);
    assert.notEqual(world.last!.serving?.fingerprint, serving?.fingerprint);
  });

  it('rotates an authority in phases: stage, publish both, confirm, swap, retire', async () => {
    const world = await worldBeforeRotation();
    const old = world.serving!;
    const [oldAuthority] = bundleFingerprints(old.caPem);

    // Staged and published in one pass, killed after the first configuration.
    await world.pass(3);
    assert.deepEqual(decided(world), ['Staged Authority']);
    assert.equal(world.last!.phase, 'Publishing');
    assert.equal(world.serving!.certificatePem, old.certificatePem);
    assert.equal(bundleFingerprints(world.last!.caBundlePem).size, 2);

    // One configuration still lacks it: no time counts.
    world.advance(shortPolicy.confirmationPeriod);
    await world.pass(0);
    assert.equal(world.last!.phase, 'Publishing');
    await world.pass();
    assert.deepEqual(decided(world), []);

    // Read back everywhere: the time begins.
    await world.pass();
    assert.deepEqual(decided(world), ['Published Authority']);
    assert.equal(world.last!.phase, 'Confirming');
    assert.equal(world.last!.nextAt.getTime(), world.now + shortPolicy.confirmationPeriod);
    const bundle = world.last!.caBundlePem;
    world.advance(shortPolicy.confirmationPeriod - 1);
    await world.pass();
    assert.equal(world.serving!.certificatePem, old.certificatePem);

    // Swapped: another leaf, the same bundle.
    world.advance(1);
    await world.pass();
    assert.deepEqual(decided(world), ['Swapped Authority', 'Issued ServingCertificate']);
    assert.equal(world.last!.phase, 'Retiring');
    assert.notEqual(world.serving!.certificatePem, old.certificatePem);
    assert.equal(world.last!.caBundlePem, bundle);

    // A replica that saw none of this goes on to the end of its leaf, and only then the old authority goes.
    const end = readCertificate(old.certificatePem).notAfter.getTime();
    world.sync(0);
    world.advance(end - 1 - world.now);
    await world.pass();
    assert.equal(bundleFingerprints(world.last!.caBundlePem).has(oldAuthority!), true);
    world.advance(1);
    await world.pass();
    assert.deepEqual(decided(world), ['Retired Authority']);
    assert.equal(bundleFingerprints(world.last!.caBundlePem).has(oldAuthority!), false);
    assert.equal(world.last!.phase, 'Stable');
  });

  it('starts to wait again when a configuration loses the new authority', async () => {
    const world = await worldBeforeRotation();
    const before = world.serving!.caPem;
    await world.pass();
    await world.pass();
    world.advance(shortPolicy.confirmationPeriod - 1);
    world.publish('two', before, true);
    await world.pass();
    assert.deepEqual(decided(world), ['Repaired Bundle']);
    assert.equal(world.last!.phase, 'Publishing');
    await world.pass();
    world.advance(shortPolicy.confirmationPeriod - 1);
    await world.pass();
    assert.equal(world.last!.phase, 'Confirming');
  });

  it('goes on renewing the leaf under the old authority while the new one cannot be published', async () => {
    const world = await worldBeforeRotation();
    const old = readCertificate(world.stored!['ca.crt']!);
    let issued = 0;
    for (let pass = 0; pass < 400 && world.now < old.notAfter.getTime() - second; pass++) {
      await world.pass(2);
      issued += decided(world).filter((change) => change === 'Issued ServingCertificate').length;
      world.advance(Math.min(60 * second, old.notAfter.getTime() - second - world.now));
    }
    assert.equal(issued > 0 && issued < 5, true, `${issued} leaves`);
    assert.equal(world.last!.phase, 'Publishing');
    assert.deepEqual(readCertificate(world.serving!.certificatePem).notAfter, old.notAfter);
    world.advance(second);
    await world.settle();
  });

  it('makes another authority when the staged one has waited for most of its life', async () => {
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

  it('keeps an authority for as long as its leaf is in use, even if the record of that is lost', async () => {
    const world = await settledWorld();
    const [old] = bundleFingerprints(world.serving!.caPem);
    world.policy = { ...world.policy, leafDuration: 100 * second };
    const lost = ['ca.key', 'rotation.json'];
    world.stored = Object.fromEntries(Object.entries(world.stored!).filter(([key]) => !lost.includes(key)));
    for (let pass = 0; pass < 10; pass++) {
      // Nothing is ever published, so the leaf cannot be swapped.
      await world.pass(2);
      assert.equal(decided(world).includes('Retired Authority'), false);
      assert.equal(bundleFingerprints(world.last!.caBundlePem).has(old!), true);
      world.advance(50 * second);
    }
  });

  for (const [what, stored] of [
    ['deleted', undefined],
    ['emptied', {}],
  ] as const) {
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
    assert.deepEqual(
      decided(world).filter((change) => !change.startsWith('Published')),
      ['Repaired StoredState'],
    );
    assert.deepEqual([world.last!.caBundlePem, world.last!.serving], [caBundlePem, serving]);
  });

  it('restores the serving Secret at once from what is stored', async () => {
    const world = await settledWorld();
    const good = world.serving;
    for (const damage of [undefined, { ...good!, privateKeyPem: 'garbage' }, await foreignPair(world.now)]) {
      world.serving = damage;
      await world.pass();
      assert.deepEqual(decided(world), ['Repaired ServingSecret']);
      assert.deepEqual(world.serving, good);
    }
  });

  it('repairs a bundle of somebody else without keeping what they put there', async () => {
    const world = await settledWorld();
    const { caBundlePem } = world.last!;
    world.publish('one', (await foreignPair(world.now)).caPem, true);
    await world.pass();
    assert.deepEqual(decided(world), ['Repaired Bundle']);
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
        world.advance(world.last!.nextAt.getTime() - world.now);
        await world.pass();
        world.sync(0);
        world.sync(1);
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
    world.advance(world.last!.nextAt.getTime() - world.now);
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

  it('swaps at once when the leaf has expired: every admission fails already', async () => {
    const world = await settledWorld();
    world.now += shortPolicy.caDuration + second;
    await world.pass();
    assert.deepEqual(decided(world), ['Staged Authority', 'Swapped Authority', 'Issued ServingCertificate']);
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
      await world.pass();
      assert.deepEqual(decided(world), []);
      // Far enough for leaves and an authority to be issued by the wrong clock.
      const issued = new Set<string>();
      while (world.now < Date.UTC(2026, 11, 1)) {
        world.advance(world.last!.nextAt.getTime() - world.now - world.skew);
        await world.pass();
        decided(world).forEach((change) => issued.add(change));
        world.sync(0);
        world.sync(1);
      }
      assert.equal(issued.has('Swapped Authority'), true);
      world.skew = 0;
      await world.pass();
      assert.deepEqual(
        decided(world).filter((change) => change.startsWith('Staged')),
        [],
      );
      await world.settle();
    });
  }

  it('replaces what was issued by a clock that was further ahead, overlapped as ever', async () => {
    const world = await settledWorld();
    const { stored, serving, caBundlePem } = world.last!;
    const rotation = await rotate({
      stored,
      serving,
      bundles: [caBundlePem],
      policy: world.policy,
      names,
      now: new Date(world.now - 30 * 3600 * second),
      random: seededBytes(2),
      generateKeyPair: pooledKeys(),
    });
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

  it('reissues when policy or names change', async () => {
    const world = await settledWorld();
    world.policy = { ...world.policy, leafDuration: 700 * second };
    await world.pass();
    assert.deepEqual(decided(world), ['Issued ServingCertificate']);
    world.policy = { ...world.policy, caDuration: 4000 * second };
    await world.pass();
    assert.deepEqual(decided(world), ['Staged Authority']);
    world.policy = { ...world.policy, keySize: 3072 };
    await world.pass();
    assert.deepEqual(
      world.last!.changes.map(({ message }) => message.replace(/[0-9a-f]{8}/, '…')),
      [
        'authority …: issued for 50m, 4000s is wanted now',
        'serving certificate …: issued with 2048 bits, 3072 are wanted now',
      ],
    );
    const { stored, serving, caBundlePem } = world.last!;
    const { changes } = await rotate({
      stored,
      serving,
      bundles: [caBundlePem],
      policy: world.policy,
      names: { ...names, hosts: ['10.1.2.3', 'injector.example.com'] },
      now: new Date(world.now),
      random: seededBytes(2),
      generateKeyPair: pooledKeys(),
    });
    assert.equal(
      changes.find(({ kind }) => kind === 'Issued')?.message.replace(/[0-9a-f]{8}/, '…'),
      'serving certificate …: the serving certificate lacks injector.example.com, 10.1.2.3',
    );
  });

  describe('does what a person asks for, once, with the same care:', () => {
    /** Passes until the request is done; what was decided, and how the request stood after each pass. */
    async function ask(world: World, target: 'leaf' | 'authority' | 'authority-force'): Promise<string[]> {
      world.request = { nonce: `${target}-1`, target };
      const seen: string[] = [];
      for (let passes = 0; passes < 60; passes++) {
        const { request, phase, nextAt } = await world.pass();
        world.sync(0);
        world.sync(1);
        seen.push([...decided(world), phase, request?.state ?? 'None'].join(', '));
        if (request?.state === 'Done') break;
        world.advance(nextAt.getTime() - world.now);
      }
      return seen;
    }

    it('a leaf', async () => {
      const world = await settledWorld();
      const before = world.last!.serving!.fingerprint;
      assert.deepEqual(await ask(world, 'leaf'), ['Issued ServingCertificate, Stable, Done']);
      const { serving, stored } = world.last!;
      assert.notEqual(serving!.fingerprint, before);
      const { changes, ...again } = await world.pass();
      assert.deepEqual([changes, again.stored, again.serving], [[], stored, serving]);
    });

    it('an authority, which waits as every other does and leaves the old one to its end', async () => {
      const world = await settledWorld();
      const seen = await ask(world, 'authority');
      assert.deepEqual(seen.slice(0, 2), [
        'Staged Authority, Publishing, Accepted',
        'Published Authority, Confirming, Accepted',
      ]);
      assert.equal(seen.at(-1), 'Swapped Authority, Issued ServingCertificate, Retiring, Done');
      assert.equal(parseBundle(world.last!.caBundlePem).length, 2);
      await world.settle();
      assert.equal(world.last!.request?.state, 'Done');
    });

    it('an authority by force: the old one leaves once replicas have had time to follow', async () => {
      const world = await settledWorld();
      const [old] = parseBundle(world.last!.caBundlePem);
      const begun = world.now;
      const seen = await ask(world, 'authority-force');
      assert.equal(seen.at(-1), 'Retired Authority, Stable, Done');
      const bundle = bundleFingerprints(world.last!.caBundlePem);
      assert.equal(bundle.size, 1);
      assert.equal(bundle.has(old!.fingerprint), false);
      const least = 2 * shortPolicy.confirmationPeriod;
      assert.ok(world.now - begun >= least && world.now - begun < least + 30 * second, `${world.now - begun} ms`);
    });

    it('an authority by force, in the middle of a rotation: what was staged may be stolen too', async () => {
      const world = await settledWorld();
      world.request = { nonce: 'first', target: 'authority' };
      await world.pass();
      const known = bundleFingerprints(world.last!.caBundlePem);
      assert.equal(known.size, 2);
      world.advance(second);
      assert.match((await ask(world, 'authority-force')).at(-1) ?? '', /Done$/);
      const left = [...bundleFingerprints(world.last!.caBundlePem)];
      assert.deepEqual([left.length, left.some((fingerprint) => known.has(fingerprint))], [1, false]);
      await world.settle();
    });

    it('an authority by force, when the new leaf could not be written at first', async () => {
      const world = await settledWorld();
      world.request = { nonce: 'n', target: 'authority-force' };
      while (!decided(world).includes('Swapped Authority')) {
        await world.pass(1);
        world.advance(world.last!.nextAt.getTime() - world.now);
        world.publish('one', world.last!.caBundlePem);
        world.publish('two', world.last!.caBundlePem);
      }
      await world.pass(1);
      assert.equal(world.last!.request?.state, 'Accepted');
      assert.match((await ask(world, 'authority-force')).at(-1) ?? '', /Done$/);
      await world.settle();
    });

    it('a leaf that the authority is too old to make is tried again by its successor', async () => {
      const world = await settledWorld();
      world.advance(shortPolicy.caDuration + second);
      world.request = { nonce: 'late', target: 'leaf' };
      await world.pass();
      await world.settle();
      assert.deepEqual(world.last!.request, { nonce: 'late', target: 'leaf', state: 'Done' });
    });
  });

  it('refuses an impossible policy and a name that cannot be certified, before anything is made', async () => {
    const input = {
      stored: undefined,
      serving: undefined,
      bundles: [],
      now: new Date(),
      random: seededBytes(1),
      generateKeyPair: () => Promise.reject(new Error('no key is needed')),
    };
    const policy = { ...shortPolicy, leafDuration: shortPolicy.caDuration };
    await assert.rejects(rotate({ ...input, policy, names }), {
      name: 'CertificatePolicyError',
      field: 'leafDuration',
    });
    await assert.rejects(rotate({ ...input, policy: shortPolicy, names: { ...names, hosts: ['a b'] } }), {
      name: 'CertificatePolicyError',
      field: 'hosts[0]',
    });
  });

  it('never puts a key into what is told or published', async () => {
    const world = await settledWorld();
    world.stored = { ...world.stored, 'ca.key': 'garbage-key' };
    const { changes, caBundlePem, stored } = await world.pass();
    assert.doesNotMatch(JSON.stringify(changes) + caBundlePem + stored['rotation.json']!, /PRIVATE|garbage-key/);
  });
});
