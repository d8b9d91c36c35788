import assert from 'node:assert/strict';
import { eachTest, injectorConfig, template } from '../testdata/operator-fixture.ts';
import { revisionTag, TagFixture } from './testdata/tag-fixture.ts';

describe('TagReconciler', () => {
  const fixture = eachTest(new TagFixture());

  it('leads to a revision that is ready, by one webhook configuration with what that has', async () => {
    await fixture.installTagged('old');
    assert.equal(fixture.tagPath('prod'), `/tags/prod/old/${fixture.hash('old')}/inject`);
    assert.equal(fixture.tagCondition('prod', 'Ready'), 'True/Published: pods get revision old');
    const { observedGeneration, stableRevision, injectorConfig: named, hash } = fixture.tagStatus('prod');
    assert.deepEqual([observedGeneration, stableRevision, named, hash], [1, 'old', 'old', fixture.hash('old')]);
    const own = fixture.webhooks('old')[0]?.clientConfig.caBundle;
    assert.equal(fixture.tagBundles('prod')[0], own);
    await fixture.recorded(/^Published: the tag leads to revision old \(configuration [0-9a-f]{8}\)$/);
  });

  it('is moved by one write of one object, once the webhook has been tried out there', async () => {
    await fixture.installTagged('old', 'new');
    const before = fixture.cluster.writes.length;
    await fixture.move('prod', 'new');
    assert.equal(fixture.tagPath('prod'), `/tags/prod/new/${fixture.hash('new')}/inject`);
    const writes = fixture.cluster.writes.slice(before).filter((write) => write.includes('mutatingwebhook'));
    const tried = writes.filter((write) => write.includes('sidecar-injector-probe-tag-prod'));
    assert.equal(tried.length, 2, 'the twin is put up and taken away');
    assert.equal(writes.length - tried.length, 1, writes.join('\n'));
    assert.equal(fixture.tagStatus('prod')['stableRevision'], 'new');
    await fixture.recorded(/^Published: the tag leads to revision new .* in place of old$/);
  });

  it('follows the configuration of its revision without being tried out again', async () => {
    await fixture.installTagged('old');
    const first = fixture.hash('old');
    await fixture.render('old', template('two'));
    assert.notEqual(fixture.hash('old'), first);
    // Tags are told of the certificate, and of each configuration, once.
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

  it('keeps a configuration that a tag still names, however many come after it', async () => {
    await fixture.installTagged('old');
    const first = fixture.hash('old');
    for (const image of ['b', 'c', 'd', 'e', 'f']) {
      await fixture.render('old', template(image));
    }
    const kept = fixture.cluster.names('configmaps').filter((name) => /-[0-9a-f]{8}$/.test(name));
    assert.ok(kept.includes(`sidecar-injector-old-${first}`), kept.join());
    assert.equal(kept.length, 3);
  });

  it('says that its revision is not ready any more, and goes on leading to the last good configuration', async () => {
    await fixture.installTagged('old');
    const path = fixture.tagPath('prod');
    await fixture.render('old', '{{ if }}', 'prod');
    assert.equal(fixture.tagPath('prod'), path);
    fixture.tagSays('prod', 'Ready', /^False\/RevisionNotReady: .*ConfigurationInvalid/);
  });

  it('goes with the webhook of a revision that is paused, and comes back with it', async () => {
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

  it('comes back where it stood when a pause ends, also while it is to go to a revision that is not ready', async () => {
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

  it('goes with a revision that is deleted', async () => {
    await fixture.installTagged('old');
    await fixture.uninstall('old');
    assert.equal(fixture.tagObject('prod'), undefined);
    await fixture.reconcileTag('prod');
    fixture.tagSays('prod', 'Ready', /^False\/(UnknownRevision|NotObserved): .*; the tag leads nowhere$/);
  });

  it('leaves nothing behind when it is deleted, also when nobody was running then', async () => {
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

  it('is repaired with an Event: deleted, and edited', async () => {
    await fixture.installTagged('old');
    const path = fixture.tagPath('prod');
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-tag-prod');
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagPath('prod'), path);
    await fixture.recorded(/^Repaired: MutatingWebhookConfiguration sidecar-injector-tag-prod was missing; made again/);
    fixture.editWebhooks('tag-prod', (webhook) => (webhook.failurePolicy = 'Ignore'));
    // What is undone again and again is taken back once a second.
    assert.ok((await fixture.reconcileTag('prod')) <= 1000);
    await fixture.clock.advance(1000);
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagWebhooks('prod')[0]?.failurePolicy, 'Fail');
  });

  it('has its caBundle repaired while it cannot go where it is to lead', async () => {
    await fixture.installTagged('old', 'new');
    await fixture.move('prod', 'nowhere');
    fixture.editWebhooks('tag-prod', ({ clientConfig }) => (clientConfig.caBundle = 'b3RoZXI='));
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagBundles('prod')[0], fixture.webhooks('old')[0]?.clientConfig.caBundle);
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/old\//);
  });

  it('gets the caBundle of a rotation whose pass went no further', async () => {
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

  it('publishes nothing where somebody older takes the same pods, and comes when that is gone', async () => {
    await fixture.install('old');
    await fixture.install('prod');
    await fixture.tag('prod', 'old');
    assert.equal(fixture.tagObject('prod'), undefined);
    const message = 'InjectorConfig prod is older and takes the same pods; nothing of this tag is published';
    assert.equal(fixture.tagCondition('prod', 'Overlap'), `True/Overlap: ${message}`);
    assert.equal(fixture.tagCondition('prod', 'Ready'), `False/Overlap: ${message}`);
    await fixture.recorded(/^Overlap: InjectorConfig prod is older/);
    await fixture.uninstall('prod', 'prod');
    fixture.tagSays('prod', 'Ready', /^True/);
  });

  it('is withdrawn where somebody older comes to take the same pods', async () => {
    await fixture.installTagged('old');
    const older = injectorConfig('prod');
    older.metadata.creationTimestamp = '2020-01-01T00:00:00Z';
    fixture.cluster.put('injectorconfigs', older);
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagObject('prod'), undefined);
    fixture.tagSays('prod', 'Ready', /^False\/Overlap/);
  });

  it('is tried out again after it was deleted', async () => {
    await fixture.installTagged('old');
    await fixture.removeTag('prod');
    const before = fixture.cluster.writes.length;
    await fixture.tag('prod', 'old');
    assert.ok(fixture.cluster.writes.slice(before).some((write) => write.includes('sidecar-injector-probe-tag-prod')));
  });

  it('is what a younger revision of its name yields to', async () => {
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

  it('of another operator class is left alone', async () => {
    await fixture.install('old');
    await fixture.tag('prod', 'old', { operatorClass: 'other' });
    assert.equal(fixture.tagObject('prod'), undefined);
    assert.deepEqual(fixture.tagStatus('prod'), {});
  });

  it('that nobody can read is refused with the field, and what is in force stays', async () => {
    await fixture.installTagged('old');
    const path = fixture.tagPath('prod');
    fixture.setSpec('prod', { revision: 'NOT a label' }, 'revisiontags');
    await fixture.reconcileTag('prod');
    assert.equal(fixture.tagPath('prod'), path);
    fixture.tagSays('prod', 'Ready', /^False\/Invalid: RevisionTag prod: spec\.revision/);
  });

  it('publishes nothing while the owner it was given does not exist', async () => {
    await fixture.install('old');
    fixture.restart({ owner: 'injector' });
    await fixture.caughtUp();
    await fixture.reconcile('old');
    await fixture.tag('prod', 'old');
    assert.equal(fixture.tagObject('prod'), undefined);
    fixture.tagSays('prod', 'WebhookReady', /^False\/OwnerMissing/);
  });
});
