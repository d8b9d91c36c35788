import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { isConflict } from '../../kube/api-error.ts';
import { whileLeading } from './leading-client.ts';
import { MemoryCluster } from '../testdata/memory-cluster.ts';

const object: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'n' } };
const configMaps = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };

describe('whileLeading', () => {
  it('rejects writes once the Lease is lost, but still allows reads', async () => {
    const cluster = new MemoryCluster();
    await cluster.start();
    let holds = true;
    const client = whileLeading(cluster.client, () => holds);
    const writes: [string, () => Promise<unknown>][] = [
      ['create', () => client.create(object)],
      ['apply', () => client.apply(object, { fieldManager: 'test' })],
      ['patch', () => client.patch(object, 'merge', { data: { a: '1' } })],
      ['replace', () => client.replace({ ...object, data: { a: '2' } })],
      ['delete', () => client.delete(object)],
    ];
    for (const [, write] of writes) await write();
    assert.equal(cluster.writes.length, 5);
    holds = false;
    for (const [what, write] of writes) await assert.rejects(write, (error) => isConflict(error), what);
    assert.equal(cluster.writes.length, 5);
    assert.equal(await client.find(configMaps, 'one', { namespace: 'n' }), undefined);
    assert.deepEqual((await client.list(configMaps)).items, []);
    await cluster.stop();
  });
});
