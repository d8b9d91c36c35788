import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { eachTest } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const host = 'injector.example.com';

describe('The host of spec.webhook.url', () => {
  const fixture = eachTest(new RevisionFixture());

  /** Hosts by which an InjectorConfig is called, in its url of this path. */
  const at = (path: string, where = host) => ({ webhook: { url: `https://${where}/${path}` } });
  const urlOf = (name: string): string | undefined => fixture.webhooks(name)[0]?.clientConfig.url;
  /** The subject alternative names of what is served for an InjectorConfig. */
  const served = (name: string): string => {
    return new X509Certificate(fixture.secret(`${name}-serving`)['tls.crt'] ?? '').subjectAltName ?? '';
  };
  const message = (holder: string): RegExp =>
    new RegExp(`^False/HostTaken: spec\\.webhook\\.url: InjectorConfig ${holder} has the host ${host} too, .*`);

  it('is that of the first; another one publishes nothing, has no certificate for it, and gets it when that is gone', async () => {
    await fixture.install('first', at('a'));
    await fixture.install('second', at('b'));
    assert.equal(urlOf('second'), undefined);
    assert.doesNotMatch(served('second'), new RegExp(host));
    for (const type of ['WebhookReady', 'Ready']) fixture.says('second', type, message('first'));
    fixture.says('first', 'Ready', /^True/);
    await fixture.recorded(/^HostTaken: /);
    assert.equal(await fixture.reconcile('second'), 30_000);
    fixture.cluster.remove('injectorconfigs', 'first');
    for (let pass = 0; pass < 3; pass += 1) {
      await fixture.reconcile('first');
      await fixture.clock.advance(2000);
    }
    await fixture.reconcile('second');
    fixture.says('second', 'Ready', /^True/);
    assert.match(served('second'), new RegExp(host));
  });

  it('stays with who is called there when an older one is edited to have it, which stays where it is', async () => {
    await fixture.install('a');
    await fixture.install('b', at('b'));
    const path = fixture.path('a');
    fixture.setSpec('a', at('a'));
    for (const name of ['a', 'b']) await fixture.reconcile(name);
    assert.equal(fixture.path('a'), path);
    assert.doesNotMatch(served('a'), new RegExp(host));
    fixture.says('a', 'WebhookReady', message('b'));
    fixture.says('b', 'Ready', /^True/);
  });

  it('is still that of who has moved on in its spec and is called there yet', async () => {
    await fixture.install('a', at('a'));
    fixture.cluster.answersProbes = false;
    fixture.setSpec('a', at('a', 'other.example.com'));
    await fixture.install('b', at('b'));
    fixture.says('b', 'WebhookReady', message('a'));
  });

  it('is still that of who is being deleted, while somebody holds its webhook', async () => {
    await fixture.install('first', at('a'));
    fixture.cluster.edit('injectorconfigs', 'first', undefined, ({ metadata }) => {
      metadata.deletionTimestamp = fixture.clock.now().toISOString();
    });
    await fixture.install('second', at('b'));
    fixture.says('second', 'WebhookReady', message('first'));
    assert.doesNotMatch(served('second'), new RegExp(host));
  });

  it('is never that of the Service of another one, but may be that of its own', async () => {
    await fixture.install('older');
    await fixture.install('blue');
    await fixture.edit('older', at('x', 'sidecar-injector-blue.injection.svc'));
    fixture.says('older', 'WebhookReady', /^False\/HostTaken: .*InjectorConfig blue has the host/);
    assert.doesNotMatch(served('older'), /-blue/);
    fixture.says('blue', 'Ready', /^True/);
    await fixture.install('own', at('x', 'sidecar-injector-own.injection.svc'));
    fixture.says('own', 'Ready', /^True/);
  });

  it('stays in the certificate while the webhook is called there, and the new one is not reached', async () => {
    await fixture.install('a', at('a'));
    fixture.cluster.answersProbes = false;
    fixture.setSpec('a', at('a', 'other.example.com'));
    const passing = fixture.reconcile('a');
    for (let turn = 0; turn < 60; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      await fixture.clock.advance(100);
    }
    await passing;
    assert.match(urlOf('a') ?? '', new RegExp(`^https://${host}/`));
    for (const each of [host, 'other.example.com']) assert.match(served('a'), new RegExp(each));
  });
});
