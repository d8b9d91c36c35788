import assert from 'node:assert/strict';
import { endlessContainers } from './endless-job.ts';

describe('endlessContainers', () => {
  const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'import', uid: '1', controller: true };
  const pod = (owners: object[], containers: string[], initContainers: string[] = []) => ({
    metadata: { ownerReferences: owners },
    spec: {
      containers: containers.map((name) => ({ name })),
      initContainers: initContainers.map((name) => ({ name, restartPolicy: 'Always' })),
    },
  });
  const cases: [title: string, owners: object[], after: string[], native: string[], expected: string[]][] = [
    ['an ordinary sidecar', [job], ['proxy', 'app', 'log'], [], ['proxy', 'log']],
    ['a native sidecar', [job], ['app'], ['proxy'], []],
    ['another controller', [{ ...job, kind: 'ReplicaSet' }], ['proxy', 'app'], [], []],
    ['a Job that is only an owner', [{ ...job, controller: false }], ['proxy', 'app'], [], []],
    ['no owner', [], ['proxy', 'app'], [], []],
  ];
  for (const [title, owners, after, native, expected] of cases)
    it(`finds ${expected.length} containers for ${title}`, () => {
      assert.deepEqual(endlessContainers(pod(owners, ['app']), pod(owners, after, native)), expected);
    });

  it('reads pods that are not valid', () => {
    for (const broken of [{}, { metadata: null, spec: [] }, { metadata: { ownerReferences: {} } }])
      assert.deepEqual(endlessContainers(broken, broken), []);
  });
});
