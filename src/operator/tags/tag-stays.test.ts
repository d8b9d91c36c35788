import assert from 'node:assert/strict';
import { eachTest, template } from '../testdata/operator-fixture.ts';
import { TagFixture } from './testdata/tag-fixture.ts';

describe('A tag keeps its current revision, and reports why,', () => {
  const fixture = eachTest(new TagFixture());
  beforeEach(() => fixture.installTagged('old'));

  const stays = async (revision: string, condition: RegExp): Promise<void> => {
    await fixture.move('prod', revision);
    assert.equal(fixture.tagPath('prod'), `/tags/prod/old/${fixture.hash('old')}/inject`);
    fixture.tagSays('prod', 'RevisionReady', condition);
    fixture.tagSays('prod', 'Ready', /^False\/.*; the tag points to revision old$/s);
    assert.equal(fixture.tagStatus('prod')['stableRevision'], 'old');
  };

  it('when spec.revision is unknown, and names the existing ones', async () => {
    await stays(
      'nowhere',
      /^False\/UnknownRevision: spec\.revision nowhere: .*\(existing names: old\); create it, or name/,
    );
    await fixture.recorded(/^UnknownRevision: /);
    await fixture.install('nowhere');
    await fixture.reconcileTag('prod');
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/nowhere\//);
    fixture.tagSays('prod', 'Ready', /^True/);
  });

  it('when spec.revision is being deleted, and omits it from the existing revisions', async () => {
    await fixture.install('going');
    fixture.cluster.edit('injectorconfigs', 'going', undefined, ({ metadata }) => {
      metadata.deletionTimestamp = '2026-06-01T00:00:00Z';
    });
    await stays('going', /^False\/UnknownRevision: .*\(existing names: old\)/);
  });

  it('when spec.revision is not ready, and follows the configuration of the current revision', async () => {
    await fixture.install('new', { injection: { templates: { sidecar: '{{ if }}' } } });
    await stays('new', /^False\/RevisionNotReady: InjectorConfig new is not ready \(ConfigurationInvalid: .*line 1/);
    await fixture.render('old', template('two'), 'prod');
    assert.equal(fixture.tagPath('prod'), `/tags/prod/old/${fixture.hash('old')}/inject`);
  });

  it('when a replica does not serve spec.revision yet', async () => {
    await fixture.install('new');
    fixture.reports.missing = ['replica-2'];
    const why =
      /^False\/RevisionNotReady: configuration [0-9a-f]{8} of InjectorConfig new is not served yet by replica-2/;
    await stays('new', why);
    fixture.reports.missing = [];
    await fixture.reconcileTag('prod');
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/new\//);
  });

  it('when spec.revision is paused', async () => {
    await fixture.install('new', { paused: true });
    await stays('new', /^False\/RevisionPaused: .*InjectorConfig new is paused/);
  });

  it('when spec.revision has custom selectors', async () => {
    const objectSelector = { matchExpressions: [{ key: 'istio.io/rev', operator: 'DoesNotExist' }] };
    const namespaceSelector = { matchLabels: { team: 'a' }, ...objectSelector };
    await fixture.install('new', { webhook: { selection: 'Custom', namespaceSelector, objectSelector } });
    await stays('new', /^False\/CustomSelection: /);
  });

  it('when spec.revision belongs to another family', async () => {
    const keys = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
    await fixture.install('new', { webhook: { keys } });
    await stays('new', /^False\/OtherFamily: .* than InjectorConfig old, to which the tag points now/);
  });

  it('when the API server does not reach the new webhook', async () => {
    await fixture.install('new');
    fixture.cluster.answersProbes = false;
    const passing = fixture.move('prod', 'new');
    for (let turn = 0; turn < 200; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      await fixture.clock.advance(100);
    }
    await passing;
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/old\//);
    fixture.tagSays('prod', 'Ready', /^False\/NotReachable: /);
    assert.equal(fixture.cluster.get('mutatingwebhookconfigurations', 'sidecar-injector-probe-tag-prod'), undefined);
  });

  it('after a restart, with unchanged conditions, until its new revision has been reconciled', async () => {
    await fixture.install('new');
    await fixture.recorded(/^Published: the tag/);
    const [path, ready] = [fixture.tagPath('prod'), fixture.tagCondition('prod', 'Ready')];
    fixture.restart();
    const before = fixture.cluster.writes.length;
    await fixture.reconcileTag('prod');
    assert.deepEqual(fixture.cluster.writes.slice(before), []);
    assert.deepEqual([fixture.tagPath('prod'), fixture.tagCondition('prod', 'Ready')], [path, ready]);
    await fixture.move('prod', 'new');
    assert.equal(fixture.tagPath('prod'), path);
    await fixture.reconcile('new', 'prod');
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/new\//);
  });
});
