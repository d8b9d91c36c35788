import assert from 'node:assert/strict';
import { parseBundle, readChain } from '../read-certificate.ts';
import { keyPool } from '../testdata/key-pool.ts';
import { SecretOwner } from '../testdata/secret-owner.ts';
import { decide, decided, settledWorld } from '../testdata/settled-world.ts';
import { names, second, shortPolicy, World } from '../testdata/world.ts';

describe('rotate, with certificates from another issuer', function () {
  this.timeout(60_000);
  before(keyPool);

  let owner: SecretOwner;
  let world: World;
  /** Runs a pass with the Secret owner's current pair. */
  const provide = async (): Promise<void> => {
    world.source = await owner.source(world.now);
    await world.pass();
  };
  const inBundle = (): number => parseBundle(world.last!.caBundlePem).length;
  beforeEach(() => {
    owner = new SecretOwner(names);
    world = new World();
  });

  /** Runs passes until replicas get the given leaf; returns the duration and the decisions. */
  async function untilServed(certificatePem: string): Promise<{ seconds: number; changes: string[] }> {
    const begun = world.now;
    const changes: string[] = [];
    for (let passes = 0; passes < 30; passes++) {
      changes.push(...(await decide(world)));
      world.sync(0);
      if (world.serving?.certificatePem === certificatePem) break;
      world.advanceToNext();
    }
    assert.equal(world.serving?.certificatePem, certificatePem);
    return { seconds: (world.now - begun) / second, changes };
  }

  it('takes over certificates immediately while no webhook is published, and stores no authority key', async () => {
    await provide();
    assert.deepEqual(decided(world), ['Issued Authority', 'Issued ServingCertificate']);
    assert.equal(world.last!.serving?.certificatePem, (await owner.pair(world.now)).certificatePem);
    assert.deepEqual(Object.keys(world.stored!).sort(), ['ca.crt', 'rotation.json', 'tls.crt', 'tls.key']);
    assert.deepEqual(await decide(world), []);
    assert.equal(world.last!.phase, 'Stable');
  });

  it('keeps the staged authority while the issuer temporarily has no pair', async () => {
    world = await settledWorld();
    await provide();
    assert.equal(inBundle(), 2);
    world.source = 'Unavailable';
    for (let passes = 0; passes < 3; passes++) {
      await world.pass();
      world.advance(40 * second);
    }
    assert.deepEqual([inBundle(), world.last!.phase], [2, 'Confirming']);
    const { certificatePem } = await owner.pair(world.now);
    await provide();
    assert.equal(world.serving?.certificatePem, certificatePem);
  });

  it('moves from its own authority to the provided authority and back, and trusts both meanwhile', async () => {
    world = await settledWorld();
    world.source = await owner.source(world.now);
    const { certificatePem } = await owner.pair(world.now);
    const forward = await untilServed(certificatePem);
    assert.ok(forward.seconds >= 60 && forward.seconds < 90, `${forward.seconds} s`);
    assert.equal(
      forward.changes.join(),
      'Staged Authority,Published Authority,Swapped Authority,Issued ServingCertificate',
    );
    assert.equal(inBundle(), 2);

    world.source = undefined;
    assert.deepEqual(await decide(world), ['Staged Authority']);
    assert.match(world.last!.changes[0]!.message, /no authority with a key is stored/);
    assert.equal(world.serving?.certificatePem, certificatePem);
    await world.settle();
    assert.notEqual(world.serving.certificatePem, certificatePem);
    assert.ok(world.stored!['ca.key']);
  });

  it('takes over a renewed leaf immediately, and a new authority only after publishing it', async () => {
    await provide();
    await world.pass();
    world.syncAll();
    await owner.renewLeaf(world.now);
    world.source = await owner.source(world.now);
    const leaf = await owner.pair(world.now);
    assert.deepEqual(await untilServed(leaf.certificatePem), { seconds: 0, changes: ['Issued ServingCertificate'] });

    await owner.replaceAuthority(world.now);
    world.source = await owner.source(world.now);
    const next = await owner.pair(world.now);
    const { seconds, changes } = await untilServed(next.certificatePem);
    assert.ok(seconds >= 60, `${seconds} s`);
    assert.equal(changes[0], 'Staged Authority');
    assert.equal(inBundle(), 2);
  });

  it('drops the staged authority when its owner withdraws it', async () => {
    world = await settledWorld();
    const own = world.last!.caBundlePem;
    await provide();
    assert.equal(inBundle(), 2);
    world.source = undefined;
    await world.pass();
    assert.deepEqual([world.last!.caBundlePem, world.last!.phase], [own, 'Stable']);

    await provide();
    await owner.replaceAuthority(world.now);
    await provide();
    assert.equal(inBundle(), 2);
    const authority = new RegExp((await owner.pair(world.now)).caPem.slice(100, 160).replaceAll(/[+/]/g, '.'));
    assert.match(world.last!.caBundlePem, authority);
  });

  it('keeps and renews its own authority while no usable pair is provided', async () => {
    world = await settledWorld();
    world.source = 'Unavailable';
    for (let passes = 0; passes < 12; passes++) {
      world.advanceToNext();
      await world.pass();
      world.syncAll();
    }
    assert.ok(world.now > Date.UTC(2026, 0, 1) + 2 * shortPolicy.leafDuration);
    assert.ok(readChain(world.serving!.certificatePem)[0].notAfter.getTime() > world.now);
  });

  it('keeps the last provided pair while no usable pair is provided, and stages no authority', async () => {
    await provide();
    await world.pass();
    const { serving, caBundlePem } = world.last!;
    await owner.replaceAuthority(world.now);
    await provide();
    world.source = 'Unavailable';
    for (let passes = 0; passes < 3; passes++) {
      await world.pass();
      assert.equal(world.last!.serving?.certificatePem, serving!.certificatePem);
      world.advance(100 * second);
    }
    assert.ok(world.last!.caBundlePem.includes(caBundlePem));
    assert.equal(world.last!.phase, 'Confirming');
  });

  it('issues nothing for a revision whose issuer never provided a pair', async () => {
    world.source = 'Unavailable';
    await world.pass();
    assert.deepEqual([world.last!.serving, world.last!.caBundlePem, decided(world)], [undefined, '', []]);
  });

  it('drops the old authority by force on request', async () => {
    world = await settledWorld();
    world.source = await owner.source(world.now);
    await untilServed((await owner.pair(world.now)).certificatePem);
    world.sync(1);
    world.request = { nonce: 'stolen', target: 'authority-force' };
    await world.pass();
    assert.equal(world.last!.request?.state, 'Accepted');
    world.syncAll();
    world.advance(shortPolicy.confirmationPeriod);
    await world.pass();
    assert.equal(world.last!.request.state, 'Done');
    assert.equal(inBundle(), 1);
  });
});
