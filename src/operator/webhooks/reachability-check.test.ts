import assert from 'node:assert/strict';
import { eachTest, injectorConfig } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const probe = 'sidecar-injector-probe-blue';
const configuration = ['mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined] as const;

describe('checkReachability', () => {
  const fixture = eachTest(new RevisionFixture());

  const probes = (): number => fixture.cluster.writes.filter((write) => write === `POST configmaps ${probe}`).length;
  const webhooks = (): string[] => fixture.cluster.names('mutatingwebhookconfigurations');
  /** Runs a pass whose reachability check gets no answer; returns its wait in milliseconds. */
  const failing = async (): Promise<number> => {
    const waits: number[] = [];
    const pass = fixture.reconcile('blue').then((wait) => waits.push(wait));
    await fixture.until(() => {
      const [next = Infinity] = fixture.clock.pending();
      if (next <= 50) void fixture.clock.advance(50);
      return waits.length > 0;
    });
    await pass;
    return waits[0] ?? assert.fail('the pass did not end');
  };

  it('installs no unreachable webhook, deletes its probe webhook, and retries with back-off', async () => {
    fixture.cluster.answersProbes = false;
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    assert.ok((await failing()) <= 1000);
    assert.deepEqual(webhooks(), []);
    const unanswered = /^False\/NotReachable: the API server accepted the dry run without an answer from a replica/;
    for (const type of ['WebhookReady', 'Ready']) fixture.says('blue', type, unanswered);
    await fixture.recorded(/^NotReachable: /);
    const before = probes();
    assert.ok((await fixture.reconcile('blue')) <= 1000);
    assert.equal(probes(), before, 'no retry before the back-off ends');
    await fixture.clock.advance(1000);
    const wait = await failing();
    assert.ok(probes() > before);
    assert.ok(wait > 1000 && wait <= 2000, `${wait} ms`);
    fixture.cluster.answersProbes = true;
    await fixture.later(2000, 'blue');
    assert.deepEqual(webhooks(), ['sidecar-injector-blue']);
    fixture.says('blue', 'Ready', /^True/);
  });

  it('checks immediately when the desired webhook has changed', async () => {
    fixture.cluster.answersProbes = false;
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    await failing();
    fixture.cluster.answersProbes = true;
    await fixture.edit('blue', { webhook: { url: 'https://injector.example.com' } });
    assert.equal(fixture.webhooks('blue')[0]?.clientConfig.url?.startsWith('https://injector.example.com/rev'), true);
  });

  it('checks once, and not again for a new configuration, a restart or a deleted webhook', async () => {
    await fixture.install();
    await fixture.render('blue', 'spec:\n  containers: []\n');
    fixture.restart();
    await fixture.reconcile('blue');
    fixture.cluster.remove(configuration[0], configuration[1]);
    await fixture.reconcile('blue');
    assert.equal(probes(), 1);
    assert.equal(fixture.webhooks('blue').length, 2);
  });

  it('checks a new endpoint; if unreachable, keeps the old endpoint with a current caBundle', async () => {
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
    assert.ok(fixture.path('blue') !== undefined, 'also while replicas are loading');
  });

  it('checks again after a removal', async () => {
    await fixture.install();
    fixture.cluster.remove('injectorconfigs', 'blue');
    for (let pass = 0; pass < 4; pass += 1) {
      await fixture.reconcile('blue');
      await fixture.clock.advance(2000);
    }
    fixture.reports.certificate = 'of before';
    await fixture.install();
    fixture.says('blue', 'Ready', /^False\/WaitingForReplicas/);
    assert.equal(probes(), 1, 'no check while replicas have a certificate of the old authority');
    fixture.reports.certificate = undefined;
    await fixture.reconcile('blue');
    assert.equal(probes(), 2);
    fixture.reports.certificate = 'a rotation behind';
    await fixture.render('blue', 'spec:\n  containers: []\n');
    fixture.says('blue', 'Ready', /^True/);
  });

  it('deletes a leftover probe webhook in the next pass, and when the InjectorConfig is deleted', async () => {
    await fixture.install();
    const own = fixture.cluster.get(...configuration)!;
    const leftover = { ...own, metadata: { name: probe, labels: own.metadata.labels! } };
    fixture.cluster.put('mutatingwebhookconfigurations', leftover);
    await fixture.reconcile('blue');
    assert.deepEqual(webhooks(), ['sidecar-injector-blue']);
    fixture.cluster.put('mutatingwebhookconfigurations', leftover);
    await fixture.caughtUp();
    await fixture.uninstall('blue');
    assert.deepEqual(webhooks(), []);
  });

  it('reports an invalid probe webhook, which means that the webhook is invalid too', async () => {
    const isProbe = (method: string, path: string): boolean => method === 'PATCH' && path.includes(probe);
    fixture.cluster.fail(isProbe, 422, 'Invalid', 'webhooks[0].clientConfig.url: Invalid value');
    await fixture.install();
    fixture.says('blue', 'WebhookReady', /^False\/Invalid: webhooks\[0\]\.clientConfig\.url/);
    assert.deepEqual(webhooks(), []);
  });
});
