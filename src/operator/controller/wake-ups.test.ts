import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { istio } from '../../selection/testdata/istio-webhook.ts';
import { ClusterView } from '../cluster-view.ts';
import { revisionTag } from '../tags/testdata/tag-fixture.ts';
import { injectorConfig } from '../testdata/operator-fixture.ts';
import { WakeUps } from './wake-ups.ts';

describe('WakeUps', () => {
  const view = new ClusterView('injection', 'default');
  for (const name of ['default', 'old']) view.configs.upsert(injectorConfig(name));
  for (const name of ['default', 'prod']) view.tags.upsert(revisionTag(name, 'old'));
  const [config, tag] = [injectorConfig('old'), revisionTag('prod', 'old')];
  const webhook = (name: string, labels: Record<string, string> = {}) => ({ ...istio(), metadata: { name, labels } });
  const changed = (object: KubernetesObject) => (wakeUps: WakeUps) => {
    wakeUps.owned({ type: 'Added', object, before: undefined });
  };
  const allObjects = 'default old tag/default tag/prod';
  const everything =
    '(held pods) (replicas) (restarts) (serving role) (validator) default deleted old tag/default tag/gone tag/prod';
  const ours = {
    'app.kubernetes.io/managed-by': 'sidecar-injector',
    'sidecar-injector.io/operator-class': 'default',
    'sidecar-injector.io/injector-config': 'deleted',
  };
  view.mutatingWebhooks.upsert(webhook('left', { ...ours, 'sidecar-injector.io/tag': 'gone' }));
  const ofTag = webhook('x', { ...ours, 'sidecar-injector.io/tag': 'test' });
  const ofDefault = webhook('sidecar-injector-default', ours);
  for (const [what, happens, expected] of [
    ['a new leader', (each) => each.everything(), everything],
    [
      'an InjectorConfig',
      (each) => each.config({ type: 'Added', object: config, before: undefined }),
      `(serving role) ${allObjects}`,
    ],
    [
      'a RevisionTag',
      (each) => each.tag({ type: 'Added', object: tag, before: undefined }),
      `(restarts) ${allObjects}`,
    ],
    ["the webhook of Istio's injector", changed(istio()), `(validator) ${allObjects}`],
    ['the owner of webhooks', changed({ ...webhook('owner'), webhooks: [] }), `(validator) ${allObjects}`],
    ['the webhook of a tag', changed(ofTag), '(restarts) deleted tag/test'],
    ['the webhook configuration of the default revision', changed(ofDefault), 'default deleted tag/default'],
  ] as readonly [string, (wakeUps: WakeUps) => void, string][]) {
    it(`queues all keys that depend on ${what}`, () => {
      const keys = new Set<string>();
      const targets = { tagsOf: () => ['prod'] } as never;
      happens(new WakeUps({ view, targets, owner: 'owner', add: (key) => keys.add(key) }));
      assert.equal([...keys].sort().join(' '), expected);
    });
  }
});
