import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { objectKey, ObjectStore } from './object-store.ts';

function object(name: string, resourceVersion: string, namespace?: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
  };
}

function setUp() {
  const store = new ObjectStore();
  const changes: string[] = [];
  store.subscribe(({ type, object: { metadata }, before }) => {
    changes.push(`${type} ${metadata.name} ${before?.metadata.resourceVersion ?? '-'}→${metadata.resourceVersion}`);
  });
  return { store, changes };
}

describe('ObjectStore', () => {
  it('keys objects by namespace and name', () => {
    assert.equal(objectKey(object('a', '1')), 'a');
    assert.equal(objectKey(object('a', '1', 'n')), 'n/a');
    assert.equal(objectKey({ metadata: {} }), '');
  });

  it('is synced after the first list, even if the list is empty', async () => {
    const { store } = setUp();
    assert.equal(store.hasSynced, false);
    const waiting = store.synced();
    store.replace([], '1');
    await waiting;
    await store.synced();
    assert.equal(store.hasSynced, true);
  });

  it('notifies subscribers of the changes that a new list contains', () => {
    const { store, changes } = setUp();
    store.replace([object('a', '1'), object('b', '2')], '3');
    store.replace([object('a', '1'), object('c', '5')], '6');
    assert.deepEqual(changes, ['Added a -→1', 'Added b -→2', 'Added c -→5', 'Deleted b 2→2']);
    assert.equal(store.size, 2);
    const names = store.list().map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['a', 'c']);
  });

  it('notifies a late subscriber of the existing objects', () => {
    const { store } = setUp();
    store.upsert(object('a', '1', 'n'));
    const seen: string[] = [];
    store.subscribe(({ type, object: { metadata } }) => seen.push(`${type} ${metadata.name}`));
    assert.deepEqual(seen, ['Added a']);
    assert.equal(store.get('a', 'n')?.metadata.resourceVersion, '1');
    assert.equal(store.get('a'), undefined);
  });

  it('does not notify if nothing changed, and ignores outdated objects, deletions and lists', () => {
    const { store, changes } = setUp();
    for (const version of ['10', '10', '9']) store.upsert(object('a', version));
    store.remove(object('a', '9'));
    store.replace([], '9');
    store.replace([object('a', '8')], '9');
    assert.equal(store.get('a')?.metadata.resourceVersion, '10');
    store.remove(object('a', '11'));
    store.remove(object('a', '12'));
    assert.deepEqual(changes, ['Added a -→10', 'Deleted a 10→11']);
  });

  it('ends with the newest state for any order of watch events and write results', () => {
    const step = fc.record({ version: fc.integer({ min: 1, max: 30 }), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.uniqueArray(step, { selector: ({ version }) => version, minLength: 1 }), (steps) => {
        const { store } = setUp();
        const newest = steps.reduce((one, other) => (one.version > other.version ? one : other));
        // The store does not remember deletions of unknown objects, so a deletion follows its
        // object.
        const deletions = steps.filter(({ remove }) => remove);
        for (const { version } of steps.filter(({ remove }) => !remove)) store.upsert(object('a', String(version)));
        for (const { version } of deletions) store.remove(object('a', String(version)));
        assert.equal(store.get('a')?.metadata.resourceVersion, newest.remove ? undefined : String(newest.version));
      }),
    );
  });

  it('does not compare resourceVersions that are not numbers', () => {
    const { store } = setUp();
    store.upsert(object('a', 'z'));
    store.upsert(object('a', 'b'));
    assert.equal(store.get('a')?.metadata.resourceVersion, 'b');
  });
});
