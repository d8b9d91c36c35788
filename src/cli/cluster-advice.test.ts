import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer as createPlainServer, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { issueAuthority, issueServingCertificate } from '../certs/issue-certificate.ts';
import { type CertifiedKey, generateRsaKeyPair, type KeyPair } from '../certs/key-pair.ts';
import { noAnswer } from '../kube/api-error.ts';
import { clusterAdvice } from './cluster-advice.ts';
import { runCommand, sees } from './testdata/recording-terminal.ts';
import { temporaryFolder } from './testdata/temporary-folder.ts';

/** Each row starts a server, as Node.js and its OpenSSL name the failures themselves. */
describe('the advice for a cluster that cannot be reached', () => {
  const { write } = temporaryFolder();
  const hour = 3_600_000;
  let keys: KeyPair;
  let authority: CertifiedKey;
  let other: CertifiedKey;
  before(async () => {
    keys = await generateRsaKeyPair(2048);
    [authority, other] = ['one', 'other'].map((name) => issuedBy(name)) as [CertifiedKey, CertifiedKey];
  });
  const issuedBy = (name: string) =>
    issueAuthority(name, keys, { now: new Date(Date.now() - 99 * hour), duration: 999 * hour, random: randomBytes });
  /** Returns the options of a server whose certificate was issued some hours ago, for two hours. */
  function serving(host: string, hoursAgo: number, chain = '') {
    const options = { now: new Date(Date.now() - hoursAgo * hour), duration: 2 * hour, random: randomBytes };
    const names = { service: 's', namespace: 'n', hosts: [host] };
    const { certificatePem, privateKeyPem } = issueServingCertificate(authority, names, keys, options);
    return { cert: certificatePem + chain, key: privateKeyPem };
  }

  const rows: [title: string, start: () => Server, trusted: () => CertifiedKey, advice: RegExp][] = [
    [
      'an unknown authority that the server sends',
      () => createServer(serving('localhost', 0, authority.certificatePem)),
      () => other,
      /SELF_SIGNED.*; the kubeconfig does not trust the authority/,
    ],
    [
      'an unknown authority',
      () => createServer(serving('localhost', 0)),
      () => other,
      /does not trust the authority of this server: set certificate-authority/,
    ],
    [
      'another host',
      () => createServer(serving('elsewhere.example', 0)),
      () => authority,
      /ALTNAME.*; in the kubeconfig, set server to a host .* or set tls-server-name/,
    ],
    [
      'an expired certificate',
      () => createServer(serving('localhost', 5)),
      () => authority,
      /CERT_HAS_EXPIRED.*; renew the certificate of the API server/,
    ],
    ['no TLS', () => createPlainServer(), () => authority, /this port does not speak TLS: correct the scheme/],
  ];
  for (const [title, start, trusted, errors] of rows) {
    it(`fits ${title}`, async () => {
      const server = start();
      await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
      const { port } = server.address() as AddressInfo;
      const ca = Buffer.from(trusted().certificatePem).toString('base64');
      const cluster = { server: `https://localhost:${port}`, 'certificate-authority-data': ca };
      const config = {
        'current-context': 'a',
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        clusters: [{ name: 'a', cluster }],
        users: [{ name: 'a', user: { token: 't' } }],
      };
      try {
        sees(await runCommand(['revisions', '--kubeconfig', write('kubeconfig', JSON.stringify(config))]), 1, {
          errors,
        });
      } finally {
        server.close();
      }
    });
  }

  it('fits a client certificate that the server refuses', () => {
    const cause = new Error('ssl3_read_bytes:tlsv13 alert certificate required:SSL alert number 116');
    assert.match(clusterAdvice(noAnswer('Unreachable', 'm', cause)), /refuses the client certificate/);
    assert.equal(clusterAdvice(cause), '');
  });
});
