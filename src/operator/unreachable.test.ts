import assert from 'node:assert/strict';
import { unreachable } from './unreachable.ts';

const prefix = 'Internal error occurred: failed calling webhook "probe.sidecar-injector.io": failed to call webhook: ';
const post = 'Post "https://sidecar-injector-blue.injection.svc:443/revisions/blue/0123abcd/inject?timeout=5s": ';

describe('unreachable', () => {
  const table: [says: string, advice: RegExp][] = [
    [`${post}tls: failed to verify certificate: x509: certificate signed by unknown authority`, /CertificateReady/],
    [`${post}dial tcp 10.0.0.7:443: connect: connection refused`, /--webhook-port/],
    [`${post}context deadline exceeded`, /NetworkPolicies/],
    [`${post}dial tcp 10.0.0.7:443: i/o timeout`, /NetworkPolicies/],
    [`${post}dial tcp: lookup injector.example.com: no such host`, /correct the Service or the url/],
    [`${post}dial tcp 10.0.0.7:443: connect: no route to host`, /a network that both have/],
    ['service "sidecar-injector-blue" not found', /selector/],
    [`${post}no endpoints available for service "sidecar-injector-blue"`, /selector/],
    ['the server could not find the requested resource', /selector/],
    ['the server is currently unable to handle the request', /look at their logs/],
  ];
  for (const [says, advice] of table) {
    it(`keeps the API server's words and says what to do: ${says.slice(-50)}`, () => {
      const message = unreachable(prefix + says);
      assert.ok(message.startsWith('the API server does not reach the webhook, so it is not installed: '));
      assert.ok(message.includes(says.replace('?timeout=5s', '')));
      const [, last = ''] = /.*; (.*)$/.exec(message) ?? [];
      assert.match(last, advice);
    });
  }

  it('gives no advice where it has none', () => {
    assert.equal(
      unreachable(`${prefix}expected response.uid="a", got "b"`),
      'the API server does not reach the webhook, so it is not installed: expected response.uid="a", got "b"',
    );
  });

  it('says the same of the same failure, whatever the port of the connection', () => {
    const reset = (port: number): string =>
      unreachable(`${prefix}${post}read tcp 10.0.0.1:${port}->10.0.0.7:443: read: connection reset by peer`);
    assert.equal(reset(40001), reset(40002));
  });

  it('takes an error that is worded otherwise as it is', () => {
    assert.match(unreachable('something else'), /so it is not installed: something else$/);
  });
});
