import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { claimantOfConfig } from '../manifests/claims.ts';
import { injectorConfig } from '../manifests/testdata/injector-config.ts';
import { foreignOverlap, foreignSelectors } from './foreign-overlap.ts';
import { TagFixture } from './tags/testdata/tag-fixture.ts';

const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];

/** As Istio installs it for its default revision. */
function istio(fields: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): KubernetesObject {
  const namespaceSelector = { matchExpressions: [{ key: 'istio-injection', operator: 'In', values: ['enabled'] }] };
  const webhook = {
    name: 'namespace.sidecar-injector.istio.io',
    namespaceSelector,
    objectSelector: { matchExpressions: [{ key: 'sidecar.istio.io/inject', operator: 'NotIn', values: ['false'] }] },
    rules,
    clientConfig: { service: { namespace: 'istio-system', name: 'istiod', path: '/inject' } },
    ...fields,
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'istio-sidecar-injector', labels: { 'istio.io/rev': 'default' }, ...metadata },
    webhooks: [webhook],
  };
}

const revision = (value: string) => ({
  matchExpressions: [{ key: 'istio.io/rev', operator: 'In', values: [value] }],
});

describe('foreignOverlap', () => {
  const ours = { 'app.kubernetes.io/managed-by': 'sidecar-injector' };
  const logs = { keys: { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' } };
  const rows: [
    what: string,
    config: string,
    spec: Record<string, unknown>,
    foreign: KubernetesObject,
    overlaps: boolean,
  ][] = [
    ["Istio's default beside ours", 'default', {}, istio(), true],
    ["Istio's default beside a revision of ours", '1-24', {}, istio(), false],
    [
      "Istio's revision of the same name",
      '1-24',
      {},
      istio({ namespaceSelector: revision('1-24'), objectSelector: {} }),
      true,
    ],
    [
      "Istio's revision of another name",
      '1-24',
      {},
      istio({ namespaceSelector: revision('1-23'), objectSelector: {} }),
      false,
    ],
    ['another family of ours', 'default', { webhook: logs }, istio(), false],
    [
      'one that looks at every pod, by other labels or none',
      'default',
      {},
      istio({ namespaceSelector: {}, objectSelector: {} }),
      false,
    ],
    [
      'one that Istio has switched off',
      'default',
      {},
      istio({ namespaceSelector: { matchLabels: { 'istio.io/deactivated': 'never-match' } }, objectSelector: {} }),
      false,
    ],
    [
      'one for other things than pods',
      'default',
      {},
      istio({ rules: [{ ...rules[0], resources: ['services'] }] }),
      false,
    ],
    ['one for updates', 'default', {}, istio({ rules: [{ ...rules[0], operations: ['UPDATE'] }] }), false],
    [
      'one for everything',
      'default',
      {},
      istio({ rules: [{ operations: ['*'], apiGroups: ['*'], resources: ['*'] }] }),
      true,
    ],
    ['one that is on its way out', 'default', {}, istio({}, { deletionTimestamp: 'now' }), false],
    ['our own', 'default', {}, istio({}, { labels: ours }), false],
  ];
  for (const [what, name, spec, foreign, overlaps] of rows) {
    it(`${what}: ${overlaps ? 'yes' : 'no'}`, () => {
      const found = foreignOverlap(claimantOfConfig(injectorConfig(name, spec)), [foreign]);
      assert.equal(found?.configuration, overlaps ? 'istio-sidecar-injector' : undefined);
    });
  }

  it('is asked about again when selectors change, not when certificates do', () => {
    assert.equal(foreignSelectors(istio()), foreignSelectors(istio({ clientConfig: { url: 'https://elsewhere' } })));
    assert.notEqual(foreignSelectors(istio()), foreignSelectors(istio({ namespaceSelector: revision('x') })));
    assert.equal(foreignSelectors(istio({}, { labels: ours })), '');
    assert.equal(foreignSelectors(undefined), '');
  });
});

describe('beside an injector of somebody else', () => {
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
