import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import { parseBundle } from '../../certs/bundle.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

/** The parts of a revision's certificates that a request changes. */
class RequestFixture extends RevisionFixture {
  ask(value: string): void {
    this.cluster.edit('injectorconfigs', 'blue', undefined, ({ metadata }) => {
      metadata.annotations = { [rotateAnnotation]: value };
    });
  }

  /** As status has it: `nonce State`, and the message of a refusal. */
  answer(): string {
    const { status } = this.cluster.get('injectorconfigs', 'blue') as unknown as {
      status: { certificate: { rotateRequest?: { nonce: string; state: string; message?: string } } };
    };
    return Object.values(status.certificate.rotateRequest ?? {}).join(' ');
  }

  serving(): { fingerprint: string; authorities: string[] } {
    const { data } = this.cluster.get('secrets', 'sidecar-injector-blue-serving', 'injection') as unknown as {
      data: Record<string, string>;
    };
    const text = (key: string): string => Buffer.from(data[key]!, 'base64').toString();
    return {
      fingerprint: new X509Certificate(text('tls.crt')).fingerprint256,
      authorities: parseBundle(text('ca.crt')).map(({ fingerprint }) => fingerprint),
    };
  }

  /** Passes at the times that they ask for, until status says this. */
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
  let fixture: RequestFixture;
  beforeEach(async () => {
    fixture = new RequestFixture();
    await fixture.start();
    await fixture.install();
  });
  afterEach(() => fixture.stop());

  it('has a leaf made, once, whoever leads and whatever becomes of the record', async () => {
    const before = fixture.serving();
    assert.equal(fixture.answer(), '');
    fixture.ask('leaf:n-1');
    await fixture.reconcile('blue');
    assert.equal(fixture.answer(), 'n-1 Done');
    const after = fixture.serving();
    assert.notEqual(after.fingerprint, before.fingerprint);
    assert.deepEqual(after.authorities, before.authorities);
    await fixture.recorded(/^Issued: serving certificate [0-9a-f]{8}: asked for$/);

    fixture.restart();
    await fixture.until(() => fixture.view.hasSynced);
    await fixture.reconcile('blue');
    assert.deepEqual(fixture.serving(), after);
    // The record of it goes with the Secret; status still knows.
    fixture.cluster.remove('secrets', 'sidecar-injector-blue', 'injection');
    await fixture.reconcile('blue');
    assert.equal(fixture.serving().fingerprint, after.fingerprint);
    assert.equal(fixture.answer(), 'n-1 Done');
  });

  it('has an authority made, published beside the old one, and says when its certificate is served', async () => {
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

  it('has an old authority dropped by force, and goes on where a killed leader stopped', async () => {
    const before = fixture.serving();
    fixture.ask('authority-force:n-3');
    await fixture.reconcile('blue');
    fixture.restart();
    await fixture.until(() => fixture.view.hasSynced);
    await fixture.answered('n-3 Done');
    assert.equal(fixture.serving().authorities.length, 1);
    assert.ok(!fixture.serving().authorities.includes(before.authorities[0]!));
  });

  it('is refused with its name and value when it is malformed, told once, and nothing is made', async () => {
    const before = fixture.serving();
    const value = `all:${'n'.repeat(80)}`;
    fixture.ask(value);
    await fixture.reconcile('blue');
    await fixture.reconcile('blue');
    assert.match(
      fixture.answer(),
      /^all:n{59} Refused metadata\.annotations\[sidecar-injector\.io\/rotate\]: "all:n+" is no/,
    );
    assert.deepEqual(fixture.serving(), before);
    await fixture.recorded(/^RotateRefused: metadata\.annotations\[sidecar-injector\.io\/rotate\]/);
    assert.equal(fixture.events().filter((event) => event.startsWith('RotateRefused')).length, 1);
    fixture.ask('leaf:n-4');
    await fixture.reconcile('blue');
    assert.equal(fixture.answer(), 'n-4 Done');
  });
});
