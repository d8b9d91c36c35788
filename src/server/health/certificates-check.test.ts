import assert from 'node:assert/strict';
import { parseBundle } from '../../certs/read-certificate.ts';
import { parsePair } from '../../certs/verify-chain.ts';
import { certificatesCheck } from './certificates-check.ts';
import { testAuthority, type TestAuthority } from '../testdata/certificates.ts';

describe('certificatesCheck', () => {
  let trusted: TestAuthority;
  let otherAuthority: TestAuthority;
  before(async () => {
    trusted = await testAuthority();
    otherAuthority = await testAuthority();
  });
  const hour = 3_600_000;
  const checkOf = (caPem: string, at: Date): string | undefined => {
    const pair = { owner: 'sidecar-injector-blue-serving', ...parsePair({ caPem, ...trusted.issue('blue') }) };
    return certificatesCheck({ all: () => [pair] }, () => at).check();
  };

  it('passes if there is no certificate; the listener check fails instead', () => {
    assert.equal(certificatesCheck({ all: () => [] }, () => new Date()).check(), undefined);
  });

  it("passes for a certificate that its Secret's authority signed, even after expiry", () => {
    assert.equal(checkOf(trusted.caPem, new Date()), undefined);
    assert.equal(checkOf(trusted.caPem, new Date(Date.now() + 1.5 * hour)), undefined);
  });

  it('names the Secret of an untrusted certificate', () => {
    const problem =
      'Secret sidecar-injector-blue-serving: no valid chain leads from the serving certificate to an authority of the bundle';
    assert.equal(checkOf(otherAuthority.caPem, new Date()), problem);
    assert.equal(checkOf(trusted.caPem, new Date(Date.now() + 3 * hour)), problem, 'the authority has expired');
  });

  it('verifies a valid certificate again after a minute', () => {
    let at = new Date();
    const pair = { owner: 'one', ...parsePair({ caPem: trusted.caPem, ...trusted.issue('blue') }) };
    const check = certificatesCheck({ all: () => [pair] }, () => at);
    assert.equal(check.check(), undefined);
    Object.assign(pair, { authorities: parseBundle(otherAuthority.caPem) });
    at = new Date(at.getTime() + 59_000);
    assert.equal(check.check(), undefined);
    at = new Date(at.getTime() + 2000);
    assert.match(check.check() ?? '', /^Secret one: /);
  });
});
