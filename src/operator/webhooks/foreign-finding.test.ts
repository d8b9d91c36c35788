import assert from 'node:assert/strict';
import { istio, revision } from '../../selection/testdata/istio-webhook.ts';
import { TagFixture } from '../tags/testdata/tag-fixture.ts';

describe('beside another injector', () => {
  let fixture: TagFixture;
  beforeEach(async () => {
    fixture = new TagFixture();
    await fixture.start();
  });
  afterEach(() => fixture.stop());

  it('nothing is published, until that is gone or spec.webhook.takeover says otherwise', async () => {
    fixture.cluster.put('mutatingwebhookconfigurations', istio());
    await fixture.install('default');
    assert.equal(fixture.path('default'), undefined);
    assert.match(
      fixture.condition('default', 'ForeignOverlap'),
      /^True\/ForeignWebhook: MutatingWebhookConfiguration istio-sidecar-injector \(webhook namespace\./,
    );
    assert.match(fixture.condition('default', 'Ready'), /^False\/ForeignOverlap: .*spec\.webhook\.takeover$/);
    await fixture.recorded(/^ForeignOverlap: /);
    fixture.setSpec('default', { webhook: { takeover: true } });
    await fixture.reconcile('default');
    assert.match(fixture.path('default') ?? '', /^\/revisions\/default\//);
    assert.match(fixture.condition('default', 'ForeignOverlap'), /^False\/Takeover: .*takeover is set$/);
    assert.match(fixture.condition('default', 'Ready'), /^True/);
  });

  it('what is in force is not withdrawn, and says so', async () => {
    await fixture.install('default');
    fixture.cluster.put('mutatingwebhookconfigurations', istio());
    await fixture.reconcile('default');
    assert.match(fixture.path('default') ?? '', /^\/revisions\/default\//);
    assert.match(fixture.condition('default', 'ForeignOverlap'), /^True/);
    assert.match(fixture.condition('default', 'Ready'), /^True/);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'istio-sidecar-injector');
    await fixture.reconcile('default');
    assert.match(fixture.condition('default', 'ForeignOverlap'), /^False\/NoForeignOverlap/);
  });

  it('a tag is not published either, and one that is in force may still be moved', async () => {
    await fixture.install('old');
    await fixture.install('new');
    const prod = istio({ namespaceSelector: revision('prod'), objectSelector: {} });
    fixture.cluster.put('mutatingwebhookconfigurations', prod);
    await fixture.tag('prod', 'old');
    assert.equal(fixture.tagObject('prod'), undefined);
    assert.match(
      fixture.tagCondition('prod', 'Ready'),
      /^False\/ForeignOverlap: .*takeover of InjectorConfig old; the tag leads nowhere$/,
    );
    fixture.cluster.remove('mutatingwebhookconfigurations', 'istio-sidecar-injector');
    await fixture.reconcileTag('prod');
    fixture.cluster.put('mutatingwebhookconfigurations', prod);
    await fixture.move('prod', 'new');
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/new\//);
    assert.match(fixture.tagCondition('prod', 'ForeignOverlap'), /^True/);
    assert.match(fixture.tagCondition('prod', 'Ready'), /^True/);
  });
});
