import assert from 'node:assert/strict';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { formatStatus, injectionStatus, parseStatus } from './injection-status.ts';
import type { Pod } from './pod.ts';

describe('the status annotation', () => {
  it('lists the added items, with null for empty lists', () => {
    const templatePod = normalisePod({
      spec: { containers: [{ name: 'p' }], volumes: [{ name: 'v', emptyDir: {} }], imagePullSecrets: [{}] },
    }) as Pod;
    const text = formatStatus(templatePod, '');
    const expected =
      '{"initContainers":null,"containers":["p"],"volumes":["v"],"imagePullSecrets":[""],"revision":"default"}';
    assert.equal(text, expected);
    assert.deepEqual([...(injectionStatus(text)?.containers ?? [])], ['p']);
  });

  it('reads the annotations of other versions', () => {
    const status = injectionStatus('{"version":"abc","initContainers":["i"],"containers":["c"]}');
    assert.deepEqual([...(status?.initContainers ?? [])], ['i']);
    assert.deepEqual(injectionStatus('null'), { initContainers: new Set(), containers: new Set() });
  });

  it('parseStatus ignores members of the wrong type and names in another case', () => {
    const names = (text: string): string[] => [...(parseStatus(text)?.containers ?? [])];
    assert.deepEqual(names('{"containers":["a"],"revision":7,"volumes":{}}'), ['a']);
    assert.deepEqual(names('{"Containers":["a"]}'), []);
    assert.deepEqual([...(injectionStatus('{"Containers":["a"]}')?.containers ?? [])], ['a']);
  });

  for (const text of [
    '',
    '[]',
    '"x"',
    '{"containers":"c"}',
    '{"initContainers":[1]}',
    '{"volumes":{}}',
    '{"revision":7}',
    '{"imagePullSecrets":7}',
    '{',
  ]) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      assert.equal(injectionStatus(text), undefined);
    });
  }
});
