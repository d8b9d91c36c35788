import assert from 'node:assert/strict';
import { formatStatus } from '../../inject/pod/injection-status.ts';
import { normalisePod } from '../../inject/kubernetes/typed-pod.ts';
import type { Pod } from '../../inject/pod/pod.ts';
import { statedRevision } from './pod-traits.ts';

const proxied = { containers: [{ name: 'app' }, { name: 'proxy' }] };
const written = formatStatus(normalisePod({ spec: { containers: [{ name: 'proxy' }] } }) as Pod, 'blue');

describe('statedRevision', () => {
  const rows: [what: string, status: string, spec: unknown, revision: string][] = [
    ['what an injector wrote', written, proxied, 'blue'],
    ['a native sidecar', written, { containers: [{ name: 'app' }], initContainers: [{ name: 'proxy' }] }, 'blue'],
    ['a template without containers', '{"volumes":["v"],"revision":"blue"}', proxied, 'blue'],
    ['a sidecar that is not there', written, { containers: [{ name: 'app' }] }, ''],
    ['a pod without a spec', written, undefined, ''],
    ['containers that are none', written, { containers: [null, 7], initContainers: 'x' }, ''],
    ['no revision', '{"containers":["proxy"]}', proxied, ''],
    ['a revision that is no text', '{"revision":["blue"]}', proxied, ''],
    ['no JSON', '{', proxied, ''],
    ['nothing', 'null', proxied, ''],
    ['too much', `{"revision":"blue"}${' '.repeat(70_000)}`, proxied, ''],
  ];
  for (const [what, status, spec, revision] of rows) {
    it(`reads ${what}`, () => {
      assert.equal(statedRevision(status, { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec }), revision);
    });
  }
});
