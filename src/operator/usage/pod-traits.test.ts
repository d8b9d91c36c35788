import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { formatStatus } from '../../inject/pod/injection-status.ts';
import { normalisePod } from '../../inject/kubernetes/typed-pod.ts';
import type { Pod } from '../../inject/pod/pod.ts';
import { workloadKey, workloadOfPod } from '../../routing/workload-key.ts';
import { statedRevision, traitsKey, traitsOf } from './pod-traits.ts';

const proxied = { containers: [{ name: 'app' }, { name: 'proxy' }] };
const written = formatStatus(normalisePod({ spec: { containers: [{ name: 'proxy' }] } }) as Pod, 'blue');

describe('statedRevision', () => {
  const rows: [what: string, status: string, spec: unknown, revision: string][] = [
    ['a status of an injector', written, proxied, 'blue'],
    ['a native sidecar', written, { containers: [{ name: 'app' }], initContainers: [{ name: 'proxy' }] }, 'blue'],
    ['a status that lists no containers', '{"volumes":["v"],"revision":"blue"}', proxied, 'blue'],
    ['a status without its sidecar', written, { containers: [{ name: 'app' }] }, ''],
    ['a pod without a spec', written, undefined, ''],
    ['a pod with invalid containers', written, { containers: [null, 7], initContainers: 'x' }, ''],
    ['a status without a revision', '{"containers":["proxy"]}', proxied, ''],
    ['a revision that is not a string', '{"revision":["blue"]}', proxied, ''],
    ['invalid JSON', '{', proxied, ''],
    ['null', 'null', proxied, ''],
    ['a status that is too long', `{"revision":"blue"}${' '.repeat(70_000)}`, proxied, ''],
  ];
  for (const [what, status, spec, revision] of rows) {
    it(`returns '${revision}' for ${what}`, () => {
      assert.equal(statedRevision(status, { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec }), revision);
    });
  }
});

describe('traitsOf', () => {
  it('keeps the owner that a pod claims, so that the operator ranks the pod as the webhook does', () => {
    const relevant = { labels: new Set<string>(), annotations: new Set<string>(), statuses: new Set<string>() };
    const keys = ['web\u0080', 'web\u0081', 'a/b'].map((name) => {
      const metadata = { namespace: 'shop', ownerReferences: [{ kind: 'K\n', name, controller: true }] };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata } as unknown as KubernetesObject;
      const traits = traitsOf(pod, relevant)!;
      assert.equal(workloadKey({ namespace: 'shop', ...traits.workload }), workloadKey(workloadOfPod(pod, 'shop')));
      return traitsKey(traits);
    });
    assert.equal(new Set(keys).size, 3);
  });
});
