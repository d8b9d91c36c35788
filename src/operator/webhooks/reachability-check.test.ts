import assert from 'node:assert/strict';
import { eachTest, injectorConfig } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const twin = 'sidecar-injector-probe-blue';
const configuration = ['mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined] as const;

describe('InstallGate', () => {
  const fixture = eachTest(new RevisionFixture());

  const asked = (): number => fixture.cluster.writes.filter((write) => write === `POST configmaps ${twin}`).length;
  const webhooksThere = (): string[] => fixture.cluster.names('mutatingwebhookconfigurations');
  /** A pass in which nobody answers. */
  const failing = async (): Promise<number> => {
    const waits: number[] = [];
    const pass = fixture.reconcile('blue').then((wait) => waits.push(wait));
    await fixture.until(() => {
      const [next = Infinity] = fixture.clock.pending();
      if (next <= 50) void fixture.clock.advance(50);
      return waits.length > 0;
    });
    await pass;
    return waits[0] ?? assert.fail('it did not end');
  };

  it('installs nothing that is not reached, leaves nothing behind, and asks less and less often', async () => {
    fixture.cluster.answersProbes = false;
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    assert.ok((await failing()) <= 1000);
    assert.deepEqual(webhooksThere(), []);
    const unanswered = /^False\/NotReachable: the API server took the dry run without an answer of ours/;
    for (const type of ['WebhookReady', 'Ready']) fixture.says('blue', type, unanswered);
    await fixture.recorded(/^NotReachable: /);
    const before = asked();
    assert.ok((await fixture.reconcile('blue')) <= 1000);
    assert.equal(asked(), before, 'not before its time');
    await fixture.clock.advance(1000);
    const wait = await failing();
    assert.ok(asked() > before);
    assert.ok(wait > 1000 && wait <= 2000, `${wait} ms`);
    fixture.cluster.answersProbes = true;
    await fixture.later(2000, 'blue');
    assert.deepEqual(webhooksThere(), ['sidecar-injector-blue']);
    fixture.says('blue', 'Ready', /^True/);
  });

  it('asks at once when what is to be tried has changed', async () => {
    fixture.cluster.answersProbes = false;
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    await failing();
    fixture.cluster.answersProbes = true;
    await fixture.edit('blue', { webhook: { url: 'https://injector.example.com' } });
    assert.equal(fixture.webhooks('blue')[0]?.clientConfig.url?.startsWith('https://injector.example.com/rev'), true);
  });

  it('asks once: not for another configuration, not after a restart, not to restore what somebody deleted', async () => {
    await fixture.install();
    await fixture.render('blue', 'spec:\n  containers: []\n');
    fixture.restart();
    await fixture.reconcile('blue');
    fixture.cluster.remove(configuration[0], configuration[1]);
    await fixture.reconcile('blue');
    assert.equal(asked(), 1);
    assert.equal(fixture.webhooks('blue').length, 2);
  });

  it('asks before the webhook leads elsewhere, and leaves it where it is, with its caBundle, when that is not reached', async () => {
    await fixture.install();
    fixture.cluster.answersProbes = false;
    fixture.setSpec('blue', { webhook: { url: 'https://nowhere.example.com' } });
    fixture.emptyBundles('blue');
    await failing();
    assert.ok(fixture.path('blue') !== undefined);
    assert.notEqual(fixture.webhooks('blue')[0]!.clientConfig.caBundle, '');
    fixture.says('blue', 'WebhookReady', /^False\/NotReachable/);
    fixture.reports.missing = ['replica-1'];
    await fixture.render('blue', 'spec:\n  containers: []\n');
    assert.ok(fixture.path('blue') !== undefined, 'also while replicas are waited for');
  });

  it('asks again after a removal', async () => {
    await fixture.install();
    fixture.cluster.remove('injectorconfigs', 'blue');
    for (let pass = 0; pass < 4; pass += 1) {
      await fixture.reconcile('blue');
      await fixture.clock.advance(2000);
    }
    fixture.reports.certificate = 'of before';
    await fixture.install();
    fixture.says('blue', 'Ready', /^False\/WaitingForReplicas/);
    assert.equal(asked(), 1, 'it would meet the certificate of another authority');
    fixture.reports.certificate = undefined;
    await fixture.reconcile('blue');
    assert.equal(asked(), 2);
    fixture.reports.certificate = 'a rotation behind';
    await fixture.render('blue', 'spec:\n  containers: []\n');
    fixture.says('blue', 'Ready', /^True/);
  });

  it('takes away the twin that a process left which ended too early, and removes it with everything else', async () => {
    await fixture.install();
    const own = fixture.cluster.get(...configuration)!;
    const left = { ...own, metadata: { name: twin, labels: own.metadata.labels! } };
    fixture.cluster.put('mutatingwebhookconfigurations', left);
    await fixture.reconcile('blue');
    assert.deepEqual(webhooksThere(), ['sidecar-injector-blue']);
    fixture.cluster.put('mutatingwebhookconfigurations', left);
    await fixture.caughtUp();
    await fixture.uninstall('blue');
    assert.deepEqual(webhooksThere(), []);
  });

  it('says that the twin is invalid, as the webhook would be', async () => {
    const isTwin = (method: string, path: string): boolean => method === 'PATCH' && path.includes(twin);
    fixture.cluster.fail(isTwin, 422, 'Invalid', 'webhooks[0].clientConfig.url: Invalid value');
    await fixture.install();
    fixture.says('blue', 'WebhookReady', /^False\/Invalid: webhooks\[0\]\.clientConfig\.url/);
    assert.deepEqual(webhooksThere(), []);
  });
});
