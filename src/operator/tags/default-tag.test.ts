import assert from 'node:assert/strict';
import { eachTest, template } from '../testdata/operator-fixture.ts';
import { TagFixture } from './testdata/tag-fixture.ts';

describe('RevisionTag default', () => {
  const fixture = eachTest(new TagFixture());

  const writesOf = (since: number, what: RegExp): string[] =>
    fixture.cluster.writes
      .slice(since)
      .filter((write) => write.includes('sidecar-injector-default') && !write.includes('configmaps'))
      .filter((write) => what.test(write));
  const hashOf = (): string => (fixture.statusOf('default').config as { hash: string }).hash;

  it('takes over webhook configuration sidecar-injector-default in one update, and the InjectorConfig reports Tagged', async () => {
    await fixture.install('default');
    await fixture.install('new');
    const before = fixture.cluster.writes.length;
    await fixture.tag('default', 'new');
    await fixture.reconcile('default');
    assert.equal(fixture.tagPath('default'), `/tags/default/new/${fixture.hash('new')}/inject`);
    for (const what of [/mutating/, /^PATCH/]) {
      assert.deepEqual(writesOf(before, what), ['PATCH mutatingwebhookconfigurations sidecar-injector-default']);
    }
    assert.equal(fixture.tagObject('default')?.metadata.labels?.['sidecar-injector.io/injector-config'], 'new');
    fixture.says('default', 'Ready', /^True\/Tagged: RevisionTag default replaces the webhook of this InjectorConfig/);
    assert.deepEqual(
      fixture.tagWebhooks('default').map(({ name }) => name),
      ['rev.namespace', 'rev.object', 'namespace', 'object'].map((name) => `${name}.sidecar-injector.io`),
    );
  });

  it('when deleted, returns the webhook to the InjectorConfig in one update', async () => {
    await fixture.install('default');
    await fixture.install('new');
    await fixture.tag('default', 'new');
    await fixture.render('default', template('later'));
    assert.match(fixture.tagPath('default') ?? '', /^\/tags\/default\/new\//, 'the edit is not published');
    const hash = hashOf();
    const before = fixture.cluster.writes.length;
    await fixture.removeTag('default');
    await fixture.reconcile('default');
    assert.equal(fixture.path('default'), `/revisions/default/${hash}/inject`);
    assert.equal(writesOf(before, /mutating/).length, 1);
    fixture.says('default', 'Ready', /^True\/Serving/);
  });

  it('can point to revision default, then to another revision, and back', async () => {
    await fixture.install('default');
    await fixture.install('new');
    await fixture.tag('default', 'default');
    assert.equal(fixture.tagPath('default'), `/tags/default/default/${hashOf()}/inject`);
    await fixture.move('default', 'new');
    await fixture.reconcile('default');
    assert.match(fixture.tagPath('default') ?? '', /^\/tags\/default\/new\//);
    await fixture.move('default', 'default');
    assert.equal(fixture.tagPath('default'), `/tags/default/default/${hashOf()}/inject`);
    await fixture.removeTag('default');
    await fixture.reconcile('default');
    assert.equal(fixture.path('default'), `/revisions/default/${hashOf()}/inject`);
  });

  it('serves and follows InjectorConfig default while spec.revision is unknown', async () => {
    await fixture.install('default');
    await fixture.tag('default', 'nowhere');
    await fixture.reconcile('default');
    assert.match(fixture.tagPath('default') ?? '', /\/default\/[0-9a-f]{8}\/inject$/);
    fixture.tagSays('default', 'Ready', /^False\/UnknownRevision.*; the tag points to revision default$/);
    await fixture.render('default', template('later'), 'default');
    assert.equal(fixture.tagPath('default'), `/tags/default/default/${hashOf()}/inject`);
  });

  it('leaves the webhook to a younger InjectorConfig default while it waits for its first revision', async () => {
    await fixture.tag('default', 'new');
    await fixture.install('default');
    assert.equal(fixture.path('default'), `/revisions/default/${hashOf()}/inject`);
    await fixture.install('new');
    await fixture.reconcile('default', 'default');
    assert.equal(fixture.tagPath('default'), `/tags/default/new/${fixture.hash('new')}/inject`);
    await fixture.reconcile('default');
    fixture.says('default', 'Ready', /^True\/Tagged/);
  });

  it('replaces the webhook of a younger InjectorConfig default, without an Overlap condition', async () => {
    await fixture.install('new');
    await fixture.tag('default', 'new');
    await fixture.install('default');
    fixture.says('default', 'Ready', /^True\/Tagged/);
    assert.equal(fixture.condition('default', 'Overlap'), 'none');
  });

  it('is the only writer of the webhook, even when replicas lack the configuration of InjectorConfig default', async () => {
    await fixture.install('default');
    await fixture.tag('default', 'default');
    await fixture.reconcile('default');
    fixture.setTemplate('default', template('later'));
    fixture.reports.missing = ['replica-1'];
    const before = fixture.cluster.writes.length;
    await fixture.reconcile('default');
    assert.deepEqual(writesOf(before, /mutating/), []);
  });

  it('works without an InjectorConfig default, and leaves nothing behind when the tag is deleted', async () => {
    await fixture.install('new');
    await fixture.tag('default', 'new', { enableNamespacesByDefault: true });
    assert.ok(fixture.tagWebhooks('default').some(({ name }) => name.startsWith('auto.')));
    await fixture.removeTag('default');
    assert.equal(fixture.tagObject('default'), undefined);
  });

  it('keeps the webhook while InjectorConfig default is paused or deleted', async () => {
    await fixture.install('default');
    await fixture.install('new');
    await fixture.tag('default', 'new');
    await fixture.reconcile('default');
    await fixture.edit('default', { paused: true });
    assert.match(fixture.tagPath('default') ?? '', /^\/tags\/default\/new\//);
    fixture.cluster.remove('injectorconfigs', 'default');
    for (let pass = 0; pass < 3; pass += 1) {
      await fixture.reconcile('default');
      await fixture.clock.advance(2000);
    }
    assert.match(fixture.tagPath('default') ?? '', /^\/tags\/default\/new\//);
    assert.ok(!fixture.cluster.names('secrets').includes('sidecar-injector-default'));
    await fixture.removeTag('default');
    assert.equal(fixture.tagObject('default'), undefined);
  });

  it('when deleted, leaves the webhook to an InjectorConfig default that is not ready', async () => {
    await fixture.install('new');
    await fixture.tag('default', 'new');
    fixture.reports.missing = ['replica-1'];
    await fixture.install('default');
    await fixture.removeTag('default');
    await fixture.reconcile('default');
    assert.match(fixture.tagPath('default') ?? '', /^\/tags\/default\/new\//, 'pods are still injected');
    assert.equal(fixture.tagBundles('default')[0], fixture.webhooks('new')[0]?.clientConfig.caBundle);
    await fixture.edit('default', { paused: true }, 'default');
    assert.equal(fixture.tagObject('default'), undefined);
  });
});
