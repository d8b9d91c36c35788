import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { eachTest } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Serving certificates are renewed after 18 to 20 hours. */
const certificate = { leafDuration: '30h', caDuration: '8760h', confirmationPeriod: '60s', renewalFraction: 0.667 };

/** A fixture whose leaders have wrong clocks. */
class ClockFixture extends RevisionFixture {
  #requests = 0;

  leaf(): X509Certificate {
    return new X509Certificate(this.secret('blue-serving')['tls.crt'] ?? '');
  }

  /** Returns the fingerprint of the authority that issued the served certificate. */
  issuer(): string | undefined {
    const authorities = parseBundle(this.secret('blue-serving')['ca.crt'] ?? '');
    return authorities.find(({ x509 }) => this.leaf().verify(x509.publicKey))?.fingerprint;
  }

  /** Asserts that passes with a clock that is wrong by `skew` renew nothing. */
  async renewsNothing(skew: number): Promise<void> {
    const { fingerprint256 } = this.leaf();
    this.clock.skew = skew;
    for (let passes = 0; passes < 2; passes += 1) await this.reconcile('blue');
    assert.equal(this.leaf().fingerprint256, fingerprint256, `a clock that is wrong by ${skew / hour} hours`);
  }

  /** Asserts that a requested rotation ends with a certificate of a new authority. */
  async rotates(): Promise<void> {
    const before = this.issuer();
    this.#requests += 1;
    this.annotate('blue', { [rotateAnnotation]: `authority:n-${this.#requests}` });
    const isDone = (): boolean =>
      JSON.stringify(this.statusOf('blue')).includes(`"n-${this.#requests}","state":"Done"`);
    for (let passes = 0; passes < 30 && !isDone(); passes += 1) {
      await this.clock.advance(await this.reconcile('blue'));
    }
    assert.ok(isDone(), JSON.stringify(this.statusOf('blue').certificate));
    assert.notEqual(this.issuer(), undefined);
    assert.notEqual(this.issuer(), before);
  }
}

describe('certificates, with wrong clocks', () => {
  const fixture = eachTest(new ClockFixture());
  beforeEach(() => fixture.install('blue', { certificate }));

  it('are not renewed when the next leader is 20 minutes behind, and are rotated on request', async () => {
    await fixture.renewsNothing(10 * minute);
    fixture.restart();
    await fixture.renewsNothing(-10 * minute);
    await fixture.rotates();
  });

  it('are renewed when the clock jumps ahead by a day, and right clocks accept the new certificate', async () => {
    const before = fixture.leaf();
    fixture.clock.skew = day;
    await fixture.reconcile('blue');
    const leaf = fixture.leaf();
    assert.notEqual(leaf.fingerprint256, before.fingerprint256);
    const now = fixture.clock.monotonic();
    assert.ok(Date.parse(leaf.validFrom) <= now && Date.parse(leaf.validTo) > now + day, leaf.toString());
    await fixture.renewsNothing(day);
    await fixture.renewsNothing(-day);
  });

  it('that were issued by a clock a day behind are renewed by a right clock, hours before they expire', async () => {
    fixture.clock.skew = -day;
    await fixture.rotates();
    const before = fixture.leaf();
    fixture.clock.skew = 0;
    await fixture.reconcile('blue');
    assert.notEqual(fixture.leaf().fingerprint256, before.fingerprint256);
    assert.ok(Date.parse(before.validTo) > fixture.clock.monotonic() + hour);
    await fixture.renewsNothing(0);
  });
});
