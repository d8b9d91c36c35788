import assert from 'node:assert/strict';
import { istio, revision } from '../../selection/testdata/istio-webhook.ts';
import { eachTest } from '../testdata/operator-fixture.ts';
import { TagFixture } from '../tags/testdata/tag-fixture.ts';

describe('beside Istio', () => {
  const fixture = eachTest(new TagFixture());

  it('an InjectorConfig publishes nothing, unless spec.webhook.takeover is set', async () => {
    fixture.cluster.put('mutatingwebhookconfigurations', istio());
    await fixture.install('default');
    assert.equal(fixture.path('default'), undefined);
    const foreign = /^True\/ForeignWebhook: MutatingWebhookConfiguration istio-sidecar-injector \(webhook namespace\./;
    fixture.says('default', 'ForeignOverlap', foreign);
    fixture.says(
      'default',
      'Ready',
      /^False\/ForeignOverlap: .*; to take over its pods, set spec\.webhook\.takeover, and remove the other webhook after/,
    );
    await fixture.recorded(/^ForeignOverlap: /);
    await fixture.edit('default', { webhook: { takeover: true } });
    assert.match(fixture.path('default') ?? '', /^\/revisions\/default\//);
    fixture.says(
      'default',
      'ForeignOverlap',
      /^True\/Takeover: .*takeover is set, so this webhook is published too: as soon/,
    );
    fixture.says('default', 'Ready', /^True/);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'istio-sidecar-injector');
    await fixture.reconcile('default');
    fixture.says('default', 'ForeignOverlap', /^False\/NoForeignOverlap/);
  });

  it('with spec.webhook.takeover, an Event reports when the other webhook comes back', async () => {
    await fixture.install('default', { webhook: { takeover: true } });
    fixture.says('default', 'ForeignOverlap', /^none$/);
    fixture.cluster.put('mutatingwebhookconfigurations', istio());
    await fixture.reconcile('default');
    fixture.says('default', 'ForeignOverlap', /^True\/Takeover/);
    fixture.says('default', 'Ready', /^True/);
    await fixture.recorded(/^ForeignOverlap: .*istio-sidecar-injector .*published too/);
  });

  it('a live webhook is not withdrawn, but the condition reports the overlap', async () => {
    await fixture.install('default');
    fixture.cluster.put('mutatingwebhookconfigurations', istio());
    await fixture.reconcile('default');
    assert.match(fixture.path('default') ?? '', /^\/revisions\/default\//);
    fixture.says('default', 'ForeignOverlap', /^True/);
    fixture.says('default', 'Ready', /^True/);
    await fixture.recorded(/^ForeignOverlap: .*istio-sidecar-injector/);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'istio-sidecar-injector');
    await fixture.reconcile('default');
    fixture.says('default', 'ForeignOverlap', /^False\/NoForeignOverlap/);
  });

  it('a new tag publishes nothing, but a published tag can still move', async () => {
    await fixture.install('old');
    await fixture.install('new');
    const prod = istio({ namespaceSelector: revision('prod'), objectSelector: {} });
    fixture.cluster.put('mutatingwebhookconfigurations', prod);
    await fixture.tag('prod', 'old');
    assert.equal(fixture.tagObject('prod'), undefined);
    const nowhere =
      /^False\/ForeignOverlap: .*takeover of InjectorConfig old, and remove .*; the tag points to no revision$/;
    fixture.tagSays('prod', 'Ready', nowhere);
    fixture.cluster.remove('mutatingwebhookconfigurations', 'istio-sidecar-injector');
    await fixture.reconcileTag('prod');
    fixture.cluster.put('mutatingwebhookconfigurations', prod);
    await fixture.move('prod', 'new');
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/new\//);
    fixture.tagSays('prod', 'ForeignOverlap', /^True/);
    fixture.tagSays('prod', 'Ready', /^True/);
  });
});
