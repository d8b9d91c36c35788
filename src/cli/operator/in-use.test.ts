import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { inUseRefusal } from './in-use.ts';

function config(status: unknown, metadata: Partial<KubernetesObject['metadata']> = {}): KubernetesObject {
  const apiVersion = 'sidecar-injector.io/v1alpha1';
  return { apiVersion, kind: 'InjectorConfig', metadata: { name: '1-24', ...metadata }, status };
}

const used = { namespaces: { count: 1, names: ['shop'] }, pods: { count: 2, names: ['shop/a', 'shop/b'] } };

describe('inUseRefusal', () => {
  it('lists the users of an object, and the remedy', () => {
    assert.equal(
      inUseRefusal(config(used), ['prod', 'stable']),
      'InjectorConfig 1-24 is in use: 2 RevisionTags point to it (prod, stable); 1 namespace selects it (shop); 2 pods use it or should use it (shop/a, shop/b); pods are counted by their labels and annotations, which their authors control; move the labels and tags to another revision and restart the pods, then delete it after 30 s; or set the annotation sidecar-injector.io/force-delete: "true" on it',
    );
  });

  it('lists at most ten names', () => {
    const names = Array.from({ length: 20 }, (_, index) => `shop/p${index}`);
    const refusal = inUseRefusal(config({ pods: { count: 5000, names } }), []) ?? '';
    assert.match(refusal, /5000 pods use it or should use it \(shop\/p0, .*, shop\/p9 and 4990 more\)/);
  });

  const allowed: [name: string, object: KubernetesObject, tags: string[]][] = [
    ['nothing uses the object', config({ namespaces: { count: 0, names: [] }, pods: { count: 0, names: [] } }), []],
    ['the users are not counted yet', config(undefined), []],
    ['the user forces it', config(used, { annotations: { 'sidecar-injector.io/force-delete': 'true' } }), ['prod']],
    ['it has already begun', config(used, { deletionTimestamp: '2026-01-01T00:00:00Z' }), ['prod']],
  ];
  for (const [name, object, tags] of allowed) {
    it(`allows the deletion when ${name}`, () => {
      assert.equal(inUseRefusal(object, tags), undefined);
    });
  }

  it('accepts only the annotation value true', () => {
    const annotations = { 'sidecar-injector.io/force-delete': 'yes' };
    assert.notEqual(inUseRefusal(config(used, { annotations }), []), undefined);
  });
});
