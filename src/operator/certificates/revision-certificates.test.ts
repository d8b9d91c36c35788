import assert from 'node:assert/strict';
import { rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import { bundleFingerprints } from '../../certs/read-certificate.ts';
import { eachTest } from '../testdata/operator-fixture.ts';
import { TagFixture } from '../tags/testdata/tag-fixture.ts';

describe('certify', () => {
  const fixture = eachTest(new TagFixture());

  it('serves a certificate of a new authority only after the tag trusts that authority', async () => {
    await fixture.installTagged('blue');
    const phase = (): string => (fixture.statusOf('blue').certificate as { phase: string }).phase;
    const leaf = (): string => fixture.secret('blue-serving')['tls.crt']!;
    const before = leaf();
    fixture.annotate('blue', { [rotateAnnotation]: 'authority:n' });
    await fixture.reconcile('blue');
    for (let times = 0; times < 4; times += 1) {
      // While the tag's bundle lacks the authority, time alone does not confirm the authority.
      fixture.emptyBundles('tag-prod');
      await fixture.later(60_000, 'blue');
      assert.equal(phase(), 'Publishing');
      assert.equal(leaf(), before);
    }
    await fixture.reconcileTag('prod');
    await fixture.reconcile('blue');
    assert.equal(phase(), 'Confirming');
    await fixture.later(60_000, 'blue');
    await fixture.reconcileTag('prod');
    assert.notEqual(leaf(), before);
    const [trusted = ''] = fixture.tagBundles('prod');
    assert.equal(bundleFingerprints(Buffer.from(trusted, 'base64').toString()).size, 2);
    assert.equal(trusted, fixture.webhooks('blue')[0]?.clientConfig.caBundle);
  });

  it('ignores probe webhooks and the webhook configurations of other operator classes', async () => {
    await fixture.install();
    const own = fixture.cluster.get('mutatingwebhookconfigurations', 'sidecar-injector-blue')!;
    const { labels = {} } = own.metadata;
    for (const [name, changed] of [
      ['sidecar-injector-probe-blue', labels],
      ['other', { ...labels, 'sidecar-injector.io/operator-class': 'other' }],
    ] as const) {
      fixture.cluster.put('mutatingwebhookconfigurations', { ...own, metadata: { name, labels: changed } });
    }
    await fixture.caughtUp();
    const names = fixture.view.webhooksOf('blue').map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['sidecar-injector-blue']);
  });
});
