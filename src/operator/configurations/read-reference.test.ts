import assert from 'node:assert/strict';
import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { ListPage } from '../../kube/api-client.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import { FollowedObjects } from '../followed-objects.ts';
import { readReference } from './compile-configuration.ts';

const reference = { field: 'spec.x', namespace: 'n', name: 'values', key: 'v' };
const configMap = (resourceVersion: string, data?: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'values', namespace: 'n', resourceVersion },
  ...(data && { data }),
});

function setUp(found?: KubernetesObject | Error) {
  const followed: { store: ObjectStore; signal: AbortSignal }[] = [];
  const changed: string[] = [];
  const objects = new FollowedObjects({
    client: {
      list: <T>(): Promise<ListPage<T>> => {
        const items = [found ?? []].flat() as T[];
        if (found instanceof Error) return Promise.reject(found);
        return Promise.resolve({ items, resourceVersion: '', continue: undefined });
      },
    },
    follow: (_resource, store, _place, signal) => followed.push({ store, signal }),
    onChange: (user) => changed.push(user),
  });
  const { signal } = new AbortController();
  const read = (user = 'blue'): Promise<string> =>
    readReference(objects, user, `InjectorConfig ${user}: spec.x`, reference, signal);
  return { objects, followed, changed, read };
}

describe('readReference', () => {
  it('lists the ConfigMap until its watch has synced, then reads the cached ConfigMap', async () => {
    const { followed, read } = setUp(configMap('1', { v: 'asked' }));
    assert.equal(await read(), 'asked');
    followed[0]!.store.replace([configMap('2', { v: 'watched' })], '2');
    assert.equal(await read(), 'watched');
    assert.equal(followed.length, 1);
    followed[0]!.store.replace([], '3');
    await assert.rejects(
      read(),
      /InjectorConfig blue: spec\.x: could not read valid configmap "values" from namespace "n" \(key "v"\): it does not exist; create it/,
    );
  });

  it('names the existing keys when the key is missing', async () => {
    await assert.rejects(
      setUp(configMap('1', { b: '', a: '' })).read(),
      /missing configuration map key "v" in configmap "values" of namespace "n": it has a, b; add it/,
    );
    await assert.rejects(setUp(configMap('1')).read(), /of namespace "n": it has none; add it/);
  });

  it('names a missing permission, and rethrows errors that may be temporary', async () => {
    const forbidden = new ApiError({ code: 403, reason: 'Forbidden', message: 'configmaps "values" is forbidden' });
    await assert.rejects(
      setUp(forbidden).read(),
      (error) =>
        error instanceof ConfigurationError &&
        /from namespace "n" \(key "v"\): the operator may not read it; grant the operator get/.test(error.message),
    );
    const away = new ApiError({ code: 0, reason: 'Unreachable', message: 'away' });
    await assert.rejects(setUp(away).read(), away);
  });

  it('reports a change to each InjectorConfig that still refers to the ConfigMap', async () => {
    const { objects, followed, changed, read } = setUp(configMap('1', { v: '' }));
    await read('blue');
    await read('green');
    followed[0]!.store.upsert(configMap('2'));
    assert.deepEqual(changed, ['blue', 'green']);
    for (let pass = 0; pass < 2; pass += 1) {
      await read('green');
      for (const user of ['blue', 'green']) objects.endPass(user);
    }
    followed[0]!.store.upsert(configMap('3'));
    assert.deepEqual(changed, ['blue', 'green', 'green']);
    assert.equal(followed[0]!.signal.aborted, false);
    objects.forget('green');
    assert.equal(followed[0]!.signal.aborted, true);
    await read('blue');
    assert.equal(followed.length, 2);
  });
});
