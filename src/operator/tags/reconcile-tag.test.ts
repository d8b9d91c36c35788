import assert from 'node:assert/strict';
import { eachTest, injectorConfig, template } from '../testdata/operator-fixture.ts';
import { revisionTag, TagFixture } from './testdata/tag-fixture.ts';

describe('TagReconciler', () => {
  const fixture = eachTest(new TagFixture());

  it('publishes one webhook configuration with the configuration and caBundle of a ready revision', async () => {
    await fixture.installTagged('old');
    assert.equal(fixture.tagPath('prod'), `/tags/prod/old/${fixture.hash('old')}/inject`);
    assert.equal(fixture.tagCondition('prod', 'Ready'), 'True/Published: pods get revision old');
    const { observedGeneration, stableRevision, injectorConfig: named, hash } = fixture.tagStatus('prod');
    assert.deepEqual([observedGeneration, stableRevision, named, hash], [1, 'old', 'old', fixture.hash('old')]);
    const own = fixture.webhooks('old')[0]?.clientConfig.caBundle;
    assert.equal(fixture.tagBundles('prod')[0], own);
    await fixture.recorded(/^Published: the tag points to revision old \(configuration [0-9a-f]{8}\)$/);
  });

  it('publishes nothing before its first revision exists and is ready', async () => {
    await fixture.tag('prod', 'late');
    fixture.tagSays('prod', 'WebhookReady', /^False\/UnknownRevision: there is no webhook, so pods .* get no sidecar/);
    fixture.reports.missing = ['replica-1'];
    await fixture.install('late');
    await fixture.reconcileTag('prod');
    fixture.tagSays('prod', 'Ready', /^False\/RevisionNotReady: InjectorConfig late is not ready/);
    assert.equal(fixture.tagObject('prod'), undefined);
    fixture.reports.missing = [];
    await fixture.reconcile('late', 'prod');
    assert.equal(fixture.tagPath('prod'), `/tags/prod/late/${fixture.hash('late')}/inject`);
  });

  it('moves the tag by one write of one object, after a reachability check', async () => {
    await fixture.installTagged('old', 'new');
    const before = fixture.cluster.writes.length;
    await fixture.move('prod', 'new');
    assert.equal(fixture.tagPath('prod'), `/tags/prod/new/${fixture.hash('new')}/inject`);
    const writes = fixture.cluster.writes.slice(before).filter((write) => write.includes('mutatingwebhook'));
    const probes = writes.filter((write) => write.includes('sidecar-injector-probe-tag-prod'));
    assert.equal(probes.length, 2, 'the probe webhook is created and deleted');
    assert.equal(writes.length - probes.length, 1, writes.join('\n'));
    assert.equal(fixture.tagStatus('prod')['stableRevision'], 'new');
    await fixture.recorded(/^Published: the tag points to revision new .* in place of old$/);
  });

  it('follows the configuration of its revision without another reachability check', async () => {
    await fixture.installTagged('old');
    const first = fixture.hash('old');
    await fixture.render('old', template('two'));
    assert.notEqual(fixture.hash('old'), first);
    // Tags are notified once of the certificate, and once of each configuration.
    assert.deepEqual(fixture.publications, ['old', 'old', 'old']);
    assert.equal(fixture.tagPath('prod'), `/tags/prod/old/${first}/inject`);
    const before = fixture.cluster.writes.length;
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagPath('prod'), `/tags/prod/old/${fixture.hash('old')}/inject`);
    assert.ok(!fixture.cluster.writes.slice(before).some((write) => write.includes('probe')));
  });

  it('writes nothing when nothing has changed', async () => {
    await fixture.installTagged('old');
    await fixture.recorded(/^Published: the tag/);
    const before = fixture.cluster.writes.length;
    await fixture.reconcileTag('prod');
    await fixture.reconcile('old', 'prod');
    assert.deepEqual(fixture.cluster.writes.slice(before), []);
  });

  it('keeps a configuration that a tag names, even after many newer ones', async () => {
    await fixture.installTagged('old');
    const first = fixture.hash('old');
    for (const image of ['b', 'c', 'd', 'e', 'f']) {
      await fixture.render('old', template(image));
    }
    const kept = fixture.cluster.names('configmaps').filter((name) => /-[0-9a-f]{8}$/.test(name));
    assert.ok(kept.includes(`sidecar-injector-old-${first}`), kept.join());
    assert.equal(kept.length, 3);
  });

  it('reports that its revision is no longer ready, and keeps the last good configuration', async () => {
    await fixture.installTagged('old');
    const path = fixture.tagPath('prod');
    await fixture.render('old', '{{ if }}', 'prod');
    assert.equal(fixture.tagPath('prod'), path);
    fixture.tagSays('prod', 'Ready', /^False\/RevisionNotReady: .*ConfigurationInvalid/);
  });

  it('removes its webhook while its revision is paused', async () => {
    await fixture.installTagged('old');
    await fixture.edit('old', { paused: true });
    assert.equal(fixture.tagObject('prod'), undefined);
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagObject('prod'), undefined);
    fixture.tagSays('prod', 'WebhookReady', /^False\/RevisionPaused: there is no webhook/);
    const { stableRevision, hash } = fixture.tagStatus('prod');
    assert.deepEqual([stableRevision, hash], ['old', undefined]);
    await fixture.edit('old', { paused: false }, 'prod');
    fixture.tagSays('prod', 'Ready', /^True/);
  });

  it('restores the webhook of its current revision when a pause ends, even if spec.revision is not ready', async () => {
    await fixture.installTagged('old');
    await fixture.install('new', { injection: { templates: { sidecar: '{{ if }}' } } });
    await fixture.move('prod', 'new');
    await fixture.edit('old', { paused: true }, 'prod');
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagObject('prod'), undefined);
    await fixture.edit('old', { paused: false }, 'prod');
    assert.equal(fixture.tagPath('prod'), `/tags/prod/old/${fixture.hash('old')}/inject`);
    fixture.tagSays('prod', 'Ready', /^False\/RevisionNotReady/);
  });

  it('removes its webhook when its revision is deleted', async () => {
    await fixture.installTagged('old');
    await fixture.uninstall('old');
    assert.equal(fixture.tagObject('prod'), undefined);
    await fixture.reconcileTag('prod');
    fixture.tagSays('prod', 'Ready', /^False\/(UnknownRevision|NotObserved): .*; the tag points to no revision$/);
  });

  it('leaves nothing behind when the tag is deleted, even while no operator runs', async () => {
    await fixture.installTagged('old');
    await fixture.removeTag('prod');
    assert.equal(fixture.tagObject('prod'), undefined);
    await fixture.tag('prod', 'old');
    fixture.cluster.remove('revisiontags', 'prod');
    fixture.restart();
    await fixture.caughtUp();
    assert.deepEqual(fixture.view.tagNames(), ['prod']);
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagObject('prod'), undefined);
    assert.match(fixture.path('old') ?? '', /^\/revisions\/old/);
  });

  it('repairs a deleted or edited webhook, with an Event', async () => {
    await fixture.installTagged('old');
    const path = fixture.tagPath('prod');
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-tag-prod');
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagPath('prod'), path);
    await fixture.recorded(/^Repaired: MutatingWebhookConfiguration sidecar-injector-tag-prod was missing; recreated/);
    fixture.editWebhooks('tag-prod', (webhook) => (webhook.failurePolicy = 'Ignore'));
    // Conflicting writes are repaired at most once a second.
    assert.ok((await fixture.reconcileTag('prod')) <= 1000);
    await fixture.clock.advance(1000);
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagWebhooks('prod')[0]?.failurePolicy, 'Fail');
  });

  it('repairs the caBundle while the tag cannot move to its spec.revision', async () => {
    await fixture.installTagged('old', 'new');
    await fixture.move('prod', 'nowhere');
    fixture.editWebhooks('tag-prod', ({ clientConfig }) => (clientConfig.caBundle = 'b3RoZXI='));
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagBundles('prod')[0], fixture.webhooks('old')[0]?.clientConfig.caBundle);
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/old\//);
  });

  it('uses the caBundle of a rotation even if the pass over the InjectorConfig fails later', async () => {
    await fixture.installTagged('old');
    const before = fixture.tagBundles('prod');
    fixture.annotate('old', { 'sidecar-injector.io/rotate': 'authority:one' });
    const isOwn = (method: string, path: string): boolean =>
      method === 'PATCH' && /configurations\/sidecar-injector-old(\?|$)/.test(path);
    fixture.cluster.fail(isOwn, 500, 'InternalError', 'no');
    await assert.rejects(fixture.reconcile('old'));
    await fixture.reconcileTag('prod');
    assert.notDeepEqual(fixture.tagBundles('prod'), before, 'the new authority is trusted');
  });

  it('publishes nothing while an older object selects the same pods', async () => {
    await fixture.install('old');
    await fixture.install('prod');
    await fixture.tag('prod', 'old');
    assert.equal(fixture.tagObject('prod'), undefined);
    const message = 'InjectorConfig prod is older and selects the same pods, so this tag publishes nothing';
    assert.equal(fixture.tagCondition('prod', 'Overlap'), `True/Overlap: ${message}`);
    assert.equal(fixture.tagCondition('prod', 'Ready'), `False/Overlap: ${message}`);
    await fixture.recorded(/^Overlap: InjectorConfig prod is older/);
    await fixture.uninstall('prod', 'prod');
    fixture.tagSays('prod', 'Ready', /^True/);
  });

  it('withdraws its webhook when an older object appears that selects the same pods', async () => {
    await fixture.installTagged('old');
    const older = injectorConfig('prod');
    older.metadata.creationTimestamp = '2020-01-01T00:00:00Z';
    fixture.cluster.put('injectorconfigs', older);
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagObject('prod'), undefined);
    fixture.tagSays('prod', 'Ready', /^False\/Overlap/);
  });

  it('needs a new reachability check after the tag was deleted', async () => {
    await fixture.installTagged('old');
    await fixture.removeTag('prod');
    const before = fixture.cluster.writes.length;
    await fixture.tag('prod', 'old');
    assert.ok(fixture.cluster.writes.slice(before).some((write) => write.includes('sidecar-injector-probe-tag-prod')));
  });

  it('wins over a younger InjectorConfig of the same name', async () => {
    await fixture.install('old');
    const older = revisionTag('prod', 'old');
    older.metadata.creationTimestamp = '2026-01-01T00:00:00Z';
    fixture.cluster.put('revisiontags', older);
    await fixture.reconcileTag('prod');
    const younger = injectorConfig('prod');
    younger.metadata.creationTimestamp = '2026-02-01T00:00:00Z';
    fixture.cluster.put('injectorconfigs', younger);
    await fixture.reconcile('prod');
    assert.equal(fixture.path('prod'), undefined);
    fixture.says('prod', 'Overlap', /^True\/Overlap: RevisionTag prod is older/);
    fixture.tagSays('prod', 'Ready', /^True/);
  });

  it('ignores a tag of another operator class', async () => {
    await fixture.install('old');
    await fixture.tag('prod', 'old', { operatorClass: 'other' });
    assert.equal(fixture.tagObject('prod'), undefined);
    assert.deepEqual(fixture.tagStatus('prod'), {});
  });

  it('reports the invalid field of a tag, and keeps the live webhook', async () => {
    await fixture.installTagged('old');
    const path = fixture.tagPath('prod');
    fixture.setSpec('prod', { revision: 'NOT a label' }, 'revisiontags');
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagPath('prod'), path);
    fixture.tagSays('prod', 'Ready', /^False\/Invalid: RevisionTag prod: spec\.revision/);
  });

  it('publishes nothing while the owner of the webhook configurations (--owner) does not exist', async () => {
    await fixture.install('old');
    fixture.restart({ owner: 'injector' });
    await fixture.caughtUp();
    await fixture.reconcile('old');
    await fixture.tag('prod', 'old');
    assert.equal(fixture.tagObject('prod'), undefined);
    fixture.tagSays('prod', 'WebhookReady', /^False\/OwnerMissing/);
  });
});
