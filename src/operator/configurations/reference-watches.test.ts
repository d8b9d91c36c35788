import assert from 'node:assert/strict';
import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import { ReferenceWatches } from './reference-watches.ts';

const reference = { field: 'spec.x', namespace: 'n', name: 'values', key: 'v' };
const configMap = (resourceVersion: string, data?: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'values', namespace: 'n', resourceVersion },
  ...(data === undefined ? {} : { data }),
});

function setUp(found?: KubernetesObject) {
  const followed: Parameters<ConstructorParameters<typeof ReferenceWatches>[1]>[0][] = [];
  const changed: string[] = [];
  const watches = new ReferenceWatches(
    { find: <T>() => Promise.resolve(found as T | undefined) },
    (options) => followed.push(options),
    (user) => changed.push(user),
  );
  const { signal } = new AbortController();
  const read = (user = 'blue'): Promise<string> =>
    watches.read({ name: user, revision: `r-${user}` }, reference, signal);
  return { watches, followed, changed, read };
}

describe('ReferenceWatches', () => {
  it('asks while its watch is on the way, and reads from the watch then', async () => {
    const { followed, read } = setUp(configMap('1', { v: 'asked' }));
    assert.equal(await read(), 'asked');
    followed[0]!.store.replace([configMap('2', { v: 'watched' })], '2');
    assert.equal(await read(), 'watched');
    assert.equal(followed.length, 1);
    followed[0]!.store.replace([], '3');
    await assert.rejects(
      read(),
      /InjectorConfig blue \(revision r-blue\): spec\.x: could not read valid configmap "values" from namespace "n" \(key "v"\): it does not exist; create it/,
    );
  });

  it('says which keys there are', async () => {
    await assert.rejects(
      setUp(configMap('1', { b: '', a: '' })).read(),
      /missing configuration map key "v" in configmap "values" of namespace "n": it has a, b; add it/,
    );
    await assert.rejects(setUp(configMap('1')).read(), /of namespace "n": it has none; add it/);
  });

  it('says which right is missing, and passes on what may pass by itself', async () => {
    const failing = (error: Error): ReferenceWatches =>
      new ReferenceWatches(
        { find: () => Promise.reject(error) },
        () => undefined,
        () => undefined,
      );
    const { signal } = new AbortController();
    const forbidden = new ApiError({ code: 403, reason: 'Forbidden', message: 'configmaps "values" is forbidden' });
    await assert.rejects(
      failing(forbidden).read({ name: 'blue', revision: 'blue' }, reference, signal),
      (error) =>
        error instanceof ConfigurationError &&
        /from namespace "n" \(key "v"\): it may not be read; grant the operator get/.test(error.message),
    );
    const away = new ApiError({ code: 0, reason: 'Unreachable', message: 'away' });
    await assert.rejects(failing(away).read({ name: 'blue', revision: 'blue' }, reference, signal), away);
  });

  it('tells everyone who refers to a ConfigMap, and nobody who no longer does', async () => {
    const { watches, followed, changed, read } = setUp(configMap('1', { v: '' }));
    await read('blue');
    await read('green');
    followed[0]!.store.upsert(configMap('2'));
    assert.deepEqual(changed, ['blue', 'green']);
    watches.keepOnly('blue', []);
    followed[0]!.store.upsert(configMap('3'));
    assert.deepEqual(changed, ['blue', 'green', 'green']);
    assert.equal(followed[0]!.signal.aborted, false);
    watches.keepOnly('green', [reference]);
    assert.equal(followed[0]!.signal.aborted, false);
    watches.keepOnly('green', []);
    assert.equal(followed[0]!.signal.aborted, true);
    await read('blue');
    assert.equal(followed.length, 2);
    watches.stop();
    assert.equal(followed[1]!.signal.aborted, true);
  });
});
