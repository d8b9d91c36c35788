import assert from 'node:assert/strict';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { formatStatus, parseStatus } from './injection-status.ts';
import type { Pod } from './pod.ts';

describe('the status annotation', () => {
  it('lists what was added, empty lists as null', () => {
    const templatePod = normalisePod({
      spec: { containers: [{ name: 'p' }], volumes: [{ name: 'v', emptyDir: {} }], imagePullSecrets: [{ name: 's' }] },
    }) as Pod;
    const text = formatStatus(templatePod, '');
    const expected =
      '{"initContainers":null,"containers":["p"],"volumes":["v"],"imagePullSecrets":["s"],"revision":"default"}';
    assert.equal(text, expected);
    assert.deepEqual([...(parseStatus(text)?.containers ?? [])], ['p']);
  });

  it('reads what other versions wrote', () => {
    const status = parseStatus('{"version":"abc","initContainers":["i"],"containers":["c"]}');
    assert.deepEqual([...(status?.initContainers ?? [])], ['i']);
    assert.deepEqual(parseStatus('null'), { initContainers: new Set(), containers: new Set(), isTyped: true });
    for (const text of ['{"volumes":{}}', '{"revision":7}']) assert.equal(parseStatus(text)?.isTyped, false);
  });

  for (const text of ['', '[]', '"x"', '{"containers":"c"}', '{"initContainers":[1]}', '{']) {
    it(`does not take ${JSON.stringify(text)} for one`, () => {
      assert.equal(parseStatus(text), undefined);
    });
  }
});
