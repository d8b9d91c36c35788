import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import { rules } from '../../selection/testdata/istio-webhook.ts';
import type { Installation } from './installation.ts';
import { readinessOf } from './operator-health.ts';
import { revisionReports } from '../commands/revisions.ts';
import { tagReports } from './tag-report.ts';
import type { UsageReport } from './read-usage.ts';

const counts = { current: 1, stale: 2, missing: 3 };
const none = { current: 0, stale: 0, missing: 0 };
const usage: UsageReport = {
  injectorConfigs: new Map([['1-24', counts]]),
  tags: new Map([['prod', counts]]),
  namespaces: new Map(),
  workloads: [],
  held: [],
  following: ({ metadata }) => (metadata.name === '1-24' ? ['shop', 'z'] : []),
};
const condition = (status: 'True' | 'False') => {
  return { type: 'Ready', status, reason: 'Serving', message: 'so', lastTransitionTime: '2026-01-01T00:00:00Z' };
};
const message = 'no operator has reconciled the current spec; check that the operator is running';
const unseen = { ready: false, reason: 'NotLookedAt', message };

const kind = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' };

/** @param matchLabels the labels of the namespaces that the webhook selects */
function istios(
  name: string,
  labels: object,
  matchLabels: object,
  webhook = 'x.sidecar-injector.istio.io',
): KubernetesObject {
  const webhooks = [{ name: webhook, rules, namespaceSelector: { matchLabels } }];
  return { ...kind, metadata: { name, labels: { ...labels } }, webhooks };
}

const served = parseInjectorConfig({
  ...injectorConfig('1-24'),
  status: { config: { hash: '00000000' }, certificate: { notAfter: '2027-01-01T00:00:00Z' } },
});
const installation: Installation = {
  health: { asked: [], replicas: [], leaders: [], readAt: 0, unreadable: 'not read' },
  configs: [served, injectorConfig('1-23')],
  tags: [{ ...revisionTag('prod'), status: { stableRevision: '1-23' } }, revisionTag('lost', { revision: '1-99' })],
  configurations: [
    istios('istio-default', {}, { 'istio-injection': 'enabled' }),
    istios('istio-canary', { 'istio.io/rev': 'canary' }, { 'istio.io/deactivated': 'never-match' }),
    istios('istio-tag-b', { 'istio.io/rev': 'canary', 'istio.io/tag': 'b' }, { 'istio.io/rev': 'b' }),
    istios('istio-tag-a', { 'istio.io/rev': 'canary', 'istio.io/tag': 'a' }, { 'istio.io/rev': 'a' }),
    istios('other', {}, {}, 'x.example.com'),
    { ...kind, metadata: { name: 'empty' } },
  ],
  namespaces: new Map([
    ['z', { 'istio.io/rev': 'prod' }],
    ['shop', { 'istio.io/rev': '1-24' }],
    ['old', { 'istio-injection': 'enabled' }],
    ['try', { 'istio.io/rev': 'b' }],
    ['idle', { 'istio.io/rev': 'canary' }],
    ['lost', { 'istio.io/rev': 'lost' }],
  ]),
};

describe('readinessOf', () => {
  const table: [title: string, generation: number | undefined, observed: number | undefined, ready: string][] = [
    ['a reconciled generation', 2, 2, 'Serving'],
    ['a changed spec', 3, 2, 'NotLookedAt'],
    ['a condition without a generation', 1, undefined, 'NotLookedAt'],
    ['an object without a generation', undefined, undefined, 'Serving'],
  ];
  for (const [title, generation, observedGeneration, reason] of table) {
    it(`returns reason ${reason} for ${title}`, () => {
      const found = readinessOf({
        metadata: generation === undefined ? {} : { generation },
        status: {
          conditions: [condition('True')],
          ...(observedGeneration === undefined ? {} : { observedGeneration }),
        },
      });
      assert.deepEqual([found.reason, found.ready], [reason, reason === 'Serving']);
    });
  }

  it('returns the condition', () => {
    const expected = { ready: false, reason: 'Serving', message: 'so' };
    assert.deepEqual(readinessOf({ metadata: {}, status: { conditions: [condition('False')] } }), expected);
  });

  it('reports an object without a status', () => {
    assert.deepEqual(readinessOf({ metadata: {} }), unseen);
  });
});

describe('revisionReports', () => {
  const reports = revisionReports(installation, usage);

  it("lists our injectors by name, then Istio's", () => {
    const names = reports.map(({ name, foreign }) => `${name}${foreign ? ' of Istio' : ''}`);
    assert.deepEqual(names, ['1-23', '1-24', 'istio-default of Istio', 'istio-canary of Istio']);
  });

  it('reports an unused InjectorConfig without a status', () => {
    const bare = { revision: '1-23', name: '1-23', foreign: false, tags: [], namespaces: [], pods: none };
    assert.deepEqual(reports[0], { ...bare, ...unseen });
  });

  it('reports the users of the revision and of its tags', () => {
    const { tags, namespaces, pods, hash, certificateExpires } = reports[1] ?? {};
    assert.deepEqual([tags, namespaces, pods], [['prod'], ['shop', 'z'], counts]);
    assert.deepEqual([hash, certificateExpires], ['00000000', '2027-01-01T00:00:00Z']);
  });

  it("reports Istio's injectors with their tags", () => {
    assert.deepEqual(
      reports.slice(2).map(({ revision, tags, namespaces }) => [revision, tags, namespaces]),
      [
        ['default', [], ['old']],
        ['canary', ['a', 'b'], ['try']],
      ],
    );
  });
});

describe('tagReports', () => {
  it('lists tags by name, including tags without a target and tags that have not moved yet', () => {
    assert.deepEqual(tagReports(installation, usage), [
      { tag: 'lost', revision: '1-99', namespaces: [], pods: none, ...unseen },
      {
        tag: 'prod',
        revision: '1-24',
        stableRevision: '1-23',
        injectorConfig: '1-24',
        namespaces: [],
        pods: counts,
        ...unseen,
      },
    ]);
  });
});
