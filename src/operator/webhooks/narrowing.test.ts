import assert from 'node:assert/strict';
import type { KubernetesObject, LabelSelector } from '../../api/kubernetes/kubernetes.ts';
import { leaveNarrowed } from './narrowing.ts';
import { eachTest } from '../testdata/operator-fixture.ts';
import { RevisionFixture, type Webhook } from '../testdata/revision-fixture.ts';

const ours = { key: 'istio.io/rev', operator: 'In', values: ['blue', 'green'] } as const;
const added = { key: 'control-plane', operator: 'NotIn', values: ['true'] } as const;
const webhook = 'rev.namespace.sidecar-injector.io';

function configuration(namespaceSelector: LabelSelector | undefined, manager?: string): KubernetesObject {
  const holds = { 'f:webhooks': { [`k:{"name":"${webhook}"}`]: { 'f:namespaceSelector': {} } } };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: {
      name: 'sidecar-injector-blue',
      managedFields: [{ manager: 'other' }, ...(manager === undefined ? [] : [{ manager, fieldsV1: holds }])],
    },
    webhooks: [
      { name: webhook, ...(namespaceSelector === undefined ? {} : { namespaceSelector }) },
      { name: 'second' },
    ],
  };
}
const list = (...matchExpressions: object[]): LabelSelector => ({ matchExpressions }) as LabelSelector;
const desired = configuration(list(ours));

describe('leaveNarrowed', () => {
  const kept: [what: string, selector: LabelSelector][] = [
    ['added expressions', list(ours, added)],
    ['added expressions and another order', list(added, { ...ours, values: ['green', 'blue'] })],
  ];
  for (const [what, selector] of kept) {
    it(`keeps ${what} from a tolerated manager, and names the manager`, () => {
      const { object, finding } = leaveNarrowed(desired, configuration(selector, 'enforcer'), ['enforcer']);
      assert.deepEqual(object.webhooks, [{ name: webhook, namespaceSelector: selector }, { name: 'second' }]);
      assert.deepEqual(object.metadata, desired.metadata);
      assert.equal(finding.status, 'True');
      assert.equal(finding.reason, 'ToleratedManager');
      assert.match(finding.message, /^enforcer adds control-plane NotIn \[true\] to the namespaceSelector of rev\./);
    });
  }

  const restored: [what: string, live: KubernetesObject | undefined, tolerated?: string[]][] = [
    ['a missing webhook', undefined],
    ['an equal list', configuration(list(ours), 'enforcer')],
    ['a missing selector', configuration(undefined, 'enforcer')],
    ['a list without our expression', configuration(list(added), 'enforcer')],
    ['a list that changes our expression', configuration(list({ ...ours, values: ['blue'] }, added), 'enforcer')],
    ['added matchLabels', configuration({ ...list(ours, added), matchLabels: { a: 'b' } }, 'enforcer')],
    ['expressions of another manager', configuration(list(ours, added), 'other')],
    ['expressions without a manager', configuration(list(ours, added))],
    ['expressions when no manager is tolerated', configuration(list(ours, added), 'enforcer'), []],
  ];
  for (const [what, live, tolerated = ['enforcer']] of restored) {
    it(`does not keep ${what}`, () => {
      const { object, finding } = leaveNarrowed(desired, live, tolerated);
      assert.equal(object, desired);
      assert.equal(finding.status, 'False');
    });
  }

  it('shows expressions without values', () => {
    const live = configuration(list(ours, { key: 'managed', operator: 'DoesNotExist' }), 'enforcer');
    assert.match(leaveNarrowed(desired, live, ['enforcer']).finding.message, /adds managed DoesNotExist to/);
  });

  it('treats a webhook that has no selector as selecting everything', () => {
    const live = configuration(list(added), 'enforcer');
    assert.equal(leaveNarrowed(configuration(undefined), live, ['enforcer']).finding.status, 'True');
  });
});

describe('a narrowed webhook', () => {
  const fixture = eachTest(new RevisionFixture());

  it('keeps the expressions, still moves, and gets every other field restored', async () => {
    await fixture.install();
    const edit = (manager: string, change: (first: Webhook) => void): void => {
      fixture.cluster.edit('mutatingwebhookconfigurations', 'sidecar-injector-blue', undefined, (object) => {
        const [first] = object.webhooks as Webhook[];
        change(first!);
        const holds = { 'f:webhooks': { [`k:{"name":"${first!.name}"}`]: { 'f:namespaceSelector': {} } } };
        object.metadata.managedFields = [{ manager, fieldsV1: holds }];
      });
    };
    edit('admissionsenforcer', (first) => first.namespaceSelector.matchExpressions.push({ ...added, values: [] }));
    fixture.cluster.writes.length = 0;
    await fixture.reconcile('blue');
    assert.deepEqual(fixture.cluster.writes, ['PATCH injectorconfigs/status blue']);
    fixture.says('blue', 'Narrowed', /^True\/ToleratedManager: admissionsenforcer adds/);
    fixture.says('blue', 'Ready', /^True/);
    const before = fixture.hash('blue');
    fixture.setTemplate('blue', 'spec:\n  containers: []\n');
    fixture.reports.missing = ['replica-1'];
    edit('admissionsenforcer', (first) => (first.failurePolicy = 'Ignore'));
    await fixture.reconcile('blue');
    const has = (): boolean =>
      fixture.webhooks('blue')[0]!.namespaceSelector.matchExpressions.some(({ key }) => key === added.key);
    assert.equal(fixture.webhooks('blue')[0]!.failurePolicy, 'Fail');
    assert.ok(has());
    fixture.reports.missing = [];
    await fixture.later(1000, 'blue');
    assert.notEqual(fixture.hash('blue'), before);
    assert.ok(has());
    edit('other', () => undefined);
    await fixture.reconcile('blue');
    assert.ok(!has());
    fixture.says('blue', 'Narrowed', /^False\/NotNarrowed/);
  });
});
