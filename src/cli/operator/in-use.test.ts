import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { inUseRefusal } from './in-use.ts';

function config(status: unknown, metadata: Partial<KubernetesObject['metadata']> = {}): KubernetesObject {
  const apiVersion = 'sidecar-injector.io/v1alpha1';
  return { apiVersion, kind: 'InjectorConfig', metadata: { name: '1-24', ...metadata }, status };
}

const used = { namespaces: { count: 1, names: ['shop'] }, pods: { count: 2, names: ['shop/a', 'shop/b'] } };

describe('inUseRefusal', () => {
  it('names who uses it, and what to do', () => {
    assert.equal(
      inUseRefusal(config(used), ['prod', 'stable']),
      'InjectorConfig 1-24 is in use: 2 RevisionTags lead to it (prod, stable); 1 namespace leads to it (shop); 2 pods were injected by it or would be (shop/a, shop/b); pods count by their labels and annotations, which their authors write; move the labels and tags elsewhere and restart the pods, and it can be deleted within 30 s; or set the annotation sidecar-injector.io/force-delete: "true" on it',
    );
  });

  it('does not list thousands', () => {
    const names = Array.from({ length: 20 }, (_, index) => `shop/p${index}`);
    const refusal = inUseRefusal(config({ pods: { count: 5000, names } }), []) ?? '';
    assert.match(refusal, /5000 pods were injected by it or would be \(shop\/p0, .*, shop\/p9 and 4990 more\)/);
  });

  const allowed: [name: string, object: KubernetesObject, tags: string[]][] = [
    ['nobody uses it', config({ namespaces: { count: 0, names: [] }, pods: { count: 0, names: [] } }), []],
    ['nobody has counted yet', config(undefined), []],
    ['it is forced', config(used, { annotations: { 'sidecar-injector.io/force-delete': 'true' } }), ['prod']],
    ['it is on its way out already', config(used, { deletionTimestamp: '2026-01-01T00:00:00Z' }), ['prod']],
  ];
  for (const [name, object, tags] of allowed) {
    it(`lets it go when ${name}`, () => {
      assert.equal(inUseRefusal(object, tags), undefined);
    });
  }

  it('takes no other word for it', () => {
    const annotations = { 'sidecar-injector.io/force-delete': 'yes' };
    assert.notEqual(inUseRefusal(config(used, { annotations }), []), undefined);
  });
});
