import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { eachTest } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const host = 'injector.example.com';

describe('The host of spec.webhook.url', () => {
  const fixture = eachTest(new RevisionFixture());

  /** Returns a spec whose url has this path and host. */
  const at = (path: string, where = host) => ({ webhook: { url: `https://${where}/${path}` } });
  const urlOf = (name: string): string | undefined => fixture.webhooks(name)[0]?.clientConfig.url;
  /** Returns the subject alternative names of the certificate that an InjectorConfig serves. */
  const served = (name: string): string => {
    return new X509Certificate(fixture.secret(`${name}-serving`)['tls.crt'] ?? '').subjectAltName ?? '';
  };
  const message = (holder: string): RegExp =>
    new RegExp(`^False/HostTaken: spec\\.webhook\\.url: InjectorConfig ${holder} has the host ${host} too, .*`);

  it('belongs to the first InjectorConfig, and moves to the second one once the first is deleted', async () => {
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

  it('stays with the InjectorConfig that uses it when an older InjectorConfig is edited to claim the host', async () => {
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

  it('stays with an InjectorConfig whose spec names another host while its webhook still uses the old host', async () => {
    await fixture.install('a', at('a'));
    fixture.cluster.answersProbes = false;
    fixture.setSpec('a', at('a', 'other.example.com'));
    await fixture.install('b', at('b'));
    fixture.says('b', 'WebhookReady', message('a'));
  });

  it('stays with an InjectorConfig that is being deleted while its webhook still exists', async () => {
    await fixture.install('first', at('a'));
    fixture.cluster.edit('injectorconfigs', 'first', undefined, ({ metadata }) => {
      metadata.deletionTimestamp = fixture.clock.now().toISOString();
    });
    await fixture.install('second', at('b'));
    fixture.says('second', 'WebhookReady', message('first'));
    assert.doesNotMatch(served('second'), new RegExp(host));
  });

  it("may be the name of the InjectorConfig's own Service, but not of another InjectorConfig's Service", async () => {
    await fixture.install('older');
    await fixture.install('blue');
    await fixture.edit('older', at('x', 'sidecar-injector-blue.injection.svc'));
    fixture.says('older', 'WebhookReady', /^False\/HostTaken: .*InjectorConfig blue has the host/);
    assert.doesNotMatch(served('older'), /-blue/);
    fixture.says('blue', 'Ready', /^True/);
    await fixture.install('own', at('x', 'sidecar-injector-own.injection.svc'));
    fixture.says('own', 'Ready', /^True/);
  });

  it('stays in the certificate while the new host is unreachable and the webhook still uses the old host', async () => {
    await fixture.install('a', at('a'));
    fixture.cluster.answersProbes = false;
    fixture.setSpec('a', at('a', 'other.example.com'));
    const pass = fixture.reconcile('a');
    for (let turn = 0; turn < 60; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      await fixture.clock.advance(100);
    }
    await pass;
    assert.match(urlOf('a') ?? '', new RegExp(`^https://${host}/`));
    for (const each of [host, 'other.example.com']) assert.match(served('a'), new RegExp(each));
  });
});
