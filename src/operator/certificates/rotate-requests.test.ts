import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { eachTest } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

/** A fixture that reads the parts of certificates that a rotate request changes. */
class RequestFixture extends RevisionFixture {
  ask(value: string): void {
    this.annotate('blue', { [rotateAnnotation]: value });
  }

  /** Returns the answer in status: `nonce State`, and the message of a refusal. */
  answer(): string {
    const { rotateRequest = {} } = this.statusOf('blue').certificate as { rotateRequest?: object };
    return Object.values(rotateRequest).join(' ');
  }

  serving(): { fingerprint: string; authorities: string[] } {
    const { 'tls.crt': leaf = '', 'ca.crt': bundle = '' } = this.secret('blue-serving');
    const authorities = parseBundle(bundle).map(({ fingerprint }) => fingerprint);
    return { fingerprint: new X509Certificate(leaf).fingerprint256, authorities };
  }

  /** Reconciles whenever a pass is due, until status has this answer. */
  async answered(expected: string): Promise<void> {
    for (let passes = 0; passes < 30; passes += 1) {
      const wait = await this.reconcile('blue');
      if (this.answer() === expected) return;
      await this.clock.advance(wait);
    }
    assert.equal(this.answer(), expected);
  }
}

describe('the rotate annotation', () => {
  const fixture = eachTest(new RequestFixture());
  beforeEach(async () => {
    await fixture.install();
  });

  it('issues a leaf once, even after a restart or the loss of a Secret', async () => {
    const before = fixture.serving();
    assert.equal(fixture.answer(), '');
    fixture.ask('leaf:n-1');
    await fixture.reconcile('blue');
    assert.equal(fixture.answer(), 'n-1 Done');
    const after = fixture.serving();
    assert.notEqual(after.fingerprint, before.fingerprint);
    assert.deepEqual(after.authorities, before.authorities);
    await fixture.recorded(/^Issued: serving certificate [0-9a-f]{8}: requested$/);

    fixture.restart();
    await fixture.reconcile('blue');
    assert.deepEqual(fixture.serving(), after);
    // The Secret records the request; the answer in status must suffice.
    fixture.cluster.remove('secrets', 'sidecar-injector-blue', 'injection');
    await fixture.reconcile('blue');
    assert.equal(fixture.serving().fingerprint, after.fingerprint);
    assert.equal(fixture.answer(), 'n-1 Done');
  });

  it('is carried out by the next process, which also repairs a caBundle that was emptied in between', async () => {
    const before = fixture.serving();
    fixture.emptyBundles('blue');
    fixture.ask('leaf:n-1');
    fixture.restart();
    await fixture.answered('n-1 Done');
    assert.notEqual(fixture.serving().fingerprint, before.fingerprint);
    const bundle = Buffer.from(fixture.webhooks('blue')[0]?.clientConfig.caBundle ?? '', 'base64').toString();
    assert.deepEqual(
      parseBundle(bundle).map(({ fingerprint }) => fingerprint),
      before.authorities,
    );
  });

  it('stages an authority beside the old one, and is Done once a certificate of the new authority is served', async () => {
    const before = fixture.serving();
    fixture.ask('authority:n-2');
    await fixture.reconcile('blue');
    assert.equal(fixture.answer(), 'n-2 Accepted');
    assert.equal(fixture.serving().fingerprint, before.fingerprint);
    await fixture.answered('n-2 Done');
    const after = fixture.serving();
    assert.notEqual(after.fingerprint, before.fingerprint);
    assert.equal(after.authorities.length, 2);
    assert.ok(after.authorities.includes(before.authorities[0]!));
  });

  it('drops an old authority by force, and resumes after the leader was killed', async () => {
    const before = fixture.serving();
    fixture.ask('authority-force:n-3');
    await fixture.reconcile('blue');
    fixture.restart();
    await fixture.answered('n-3 Done');
    assert.equal(fixture.serving().authorities.length, 1);
    assert.ok(!fixture.serving().authorities.includes(before.authorities[0]!));
  });

  it('is refused once when malformed; the refusal quotes the value', async () => {
    const before = fixture.serving();
    const value = `all:${'n'.repeat(80)}`;
    fixture.ask(value);
    await fixture.reconcile('blue');
    await fixture.reconcile('blue');
    const refused = /^all:n{59} Refused metadata\.annotations\[sidecar-injector\.io\/rotate\]: "all:n+" is no/;
    assert.match(fixture.answer(), refused);
    assert.deepEqual(fixture.serving(), before);
    await fixture.recorded(/^RotateRefused: metadata\.annotations\[sidecar-injector\.io\/rotate\]/);
    assert.equal(fixture.events().filter((event) => event.startsWith('RotateRefused')).length, 1);
    fixture.ask('leaf:n-4');
    await fixture.reconcile('blue');
    assert.equal(fixture.answer(), 'n-4 Done');
  });
});
