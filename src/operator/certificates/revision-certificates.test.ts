import assert from 'node:assert/strict';
import { rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import { bundleFingerprints } from '../../certs/bundle.ts';
import { TagFixture } from '../tags/testdata/tag-fixture.ts';
import type { Webhook } from '../testdata/revision-fixture.ts';

describe('RevisionCertificates', () => {
  let fixture: TagFixture;
  beforeEach(async () => {
    fixture = new TagFixture();
    await fixture.start();
  });
  afterEach(() => fixture.stop());

  describe('with a tag of the revision', () => {
    const tag = 'sidecar-injector-tag-prod';

    beforeEach(async () => {
      await fixture.install();
      await fixture.tag('prod', 'blue');
    });

    const empty = (name: string): void => {
      fixture.cluster.edit('mutatingwebhookconfigurations', name, undefined, (object) => {
        for (const { clientConfig } of object.webhooks as Webhook[]) clientConfig.caBundle = '';
      });
    };

    it('waits until the tag has the new authority before a certificate of it is served', async () => {
      const phase = (): unknown =>
        (fixture.cluster.get('injectorconfigs', 'blue')?.status as { certificate: { phase: string } }).certificate
          .phase;
      const served = (): unknown => fixture.cluster.get('secrets', 'sidecar-injector-blue-serving', 'injection')?.data;
      const leaf = (): string => (served() as Record<string, string>)['tls.crt']!;
      const before = leaf();
      fixture.cluster.edit('injectorconfigs', 'blue', undefined, ({ metadata }) => {
        metadata.annotations = { [rotateAnnotation]: 'authority:n' };
      });
      await fixture.reconcile('blue');
      for (let times = 0; times < 4; times += 1) {
        // As long as somebody keeps the authority out of it, time alone confirms nothing.
        empty(tag);
        await fixture.clock.advance(60_000);
        await fixture.reconcile('blue');
        assert.equal(phase(), 'Publishing');
        assert.equal(leaf(), before);
      }
      await fixture.reconcileTag('prod');
      await fixture.reconcile('blue');
      assert.equal(phase(), 'Confirming');
      await fixture.clock.advance(60_000);
      await fixture.reconcile('blue');
      await fixture.reconcileTag('prod');
      assert.notEqual(leaf(), before);
      const [trusted = ''] = fixture.tagBundles('prod');
      assert.equal(bundleFingerprints(Buffer.from(trusted, 'base64').toString()).size, 2);
      assert.equal(trusted, fixture.webhooks('blue')[0]?.clientConfig.caBundle);
    });
  });

  it('does not count the twin that tries a path out, nor a configuration of another operator class', async () => {
    await fixture.install();
    const own = fixture.cluster.get('mutatingwebhookconfigurations', 'sidecar-injector-blue')!;
    const { labels = {} } = own.metadata;
    for (const [name, changed] of [
      ['sidecar-injector-probe-blue', labels],
      ['somebody', { ...labels, 'sidecar-injector.io/operator-class': 'other' }],
    ] as const) {
      fixture.cluster.put('mutatingwebhookconfigurations', { ...own, metadata: { name, labels: changed } });
    }
    await fixture.caughtUp();
    assert.deepEqual(
      fixture.view.webhooksOf('blue').map(({ metadata }) => metadata.name),
      ['sidecar-injector-blue'],
    );
  });
});
