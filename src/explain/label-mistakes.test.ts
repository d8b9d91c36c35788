import assert from 'node:assert/strict';
import fc from 'fast-check';
import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import { countingLabels, labelMistakes, type LabelFamily, misplacedLabels } from './label-mistakes.ts';

const istio: LabelFamily = { keys: istioKeys, names: ['1-24', '1-25', 'prod'] };
const logs = { injection: 'logs.example.com/inject', revision: 'logs.example.com/rev', inject: 'logs.example.com/pod' };

describe('labelMistakes', () => {
  const table: [labels: Record<string, string>, messages: RegExp[]][] = [
    [{}, []],
    [{ 'istio.io/rev': '1-25' }, []],
    [{ 'istio-injection': 'disabled' }, []],
    [{ 'kubernetes.io/metadata.name': 'shop', team: 'istio', 'app.kubernetes.io/name': 'x' }, []],
    [
      { 'istio.io/rev': '1.25' },
      [/has no effect: there is no revision or tag 1\.25; existing names: 1-24, 1-25, prod; did you mean 1-25\?/],
    ],
    [{ 'istio.io/rev': 'prd' }, [/no revision or tag prd; .*; did you mean prod\?/]],
    [{ 'istio.io/rev': 'nothing-like-it' }, [/existing names: 1-24, 1-25, prod$/]],
    [{ 'istio.io/rev': '1-26' }, [/there is no revision or tag 1-26; existing names: 1-24, 1-25, prod$/]],
    [{ 'sidecar.istio.io/inject': 'true' }, [/has no effect on a namespace; did you mean istio-injection\?/]],
    [
      { 'istio-injection': 'enabled' },
      [/istio-injection=enabled has no effect: there is no revision or tag default; existing names/],
    ],
    [{ 'istio-injection': 'enable' }, [/istio-injection=enable has no effect: use enabled or disabled/]],
    [{ 'istio-injection': 'true', 'istio.io/rev': '1-25' }, [/istio-injection=true has no effect/]],
    [
      { 'istio-inject': 'enabled' },
      [/label istio-inject=enabled has no effect on a namespace; did you mean istio-injection\?/],
    ],
    [{ 'istio.io/revision': '1-25' }, [/did you mean istio\.io\/rev\?/]],
    [{ 'istio-injecton': 'enabled' }, [/did you mean istio-injection\?/]],
    [{ 'istio.io/rev': 'x', 'istio-inject': 'y' }, [/has no effect/, /did you mean/]],
  ];
  for (const [labels, messages] of table) {
    it(`reports ${messages.length === 0 ? 'nothing' : String(messages[0])} for ${JSON.stringify(labels)}`, () => {
      const found = labelMistakes(labels, [istio]).map(({ message }) => message);
      assert.equal(found.length, messages.length, found.join('\n'));
      for (const [index, pattern] of messages.entries()) assert.match(found[index] ?? '', pattern);
    });
  }

  const ofPods: [labels: Record<string, string>, message: RegExp | undefined, meant?: string][] = [
    [{ app: 'web', 'sidecar.istio.io/inject': 'false', 'istio.io/rev': 'gone' }, undefined],
    [{ 'sidecar.istio.io/inject': 'true', 'istio.io/rev': 'prod' }, undefined],
    [{ 'istio.io/rev': 'Prod' }, /did you mean prod\?/, 'istio.io/rev=prod'],
    [{ 'sidecar.istio.io/inject': 'true' }, /no revision or tag default/],
    [{ 'sidecar.istio.io/inject': 'no' }, /use true or false/, 'sidecar.istio.io/inject=false'],
    [
      { 'istio-injection': 'enabled' },
      /has no effect on a pod; did you mean sidecar\.istio\.io\/inject\?/,
      'istio-injection=null sidecar.istio.io/inject=true',
    ],
  ];
  for (const [labels, message, meant = ''] of ofPods) {
    it(`suggests "${meant}" for the pod labels ${JSON.stringify(labels)}`, () => {
      const [mistake] = labelMistakes(labels, [istio], 'Pod');
      assert.match(mistake?.message ?? 'none', message ?? /^none$/);
      const changes = mistake?.changes.map((change) => ('key' in change ? `${change.key}=${change.value}` : '')) ?? [];
      assert.equal(changes.join(' '), meant);
    });
  }

  it('checks the labels of each family against the names of that family', () => {
    const families = [istio, { keys: logs, names: ['default'] }];
    assert.deepEqual(labelMistakes({ [logs.injection]: 'enabled', 'istio.io/rev': 'prod' }, families), []);
    const [mistake] = labelMistakes({ [logs.revision]: 'v2' }, families);
    assert.match(mistake?.message ?? '', /no revision or tag v2; existing names: default$/);
  });

  const on = { 'sidecar.istio.io/inject': 'true' };
  const off = { 'sidecar.istio.io/inject': 'false' };
  const deployment = (labels: Record<string, string>) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { labels },
  });
  const misplaced: [where: string, pod: object, namespace: object, owner: Record<string, string>, found: string][] = [
    ['a label of a Deployment', {}, {}, on, 'the label of the Deployment sidecar.istio.io/inject=true'],
    ['a label of a Deployment that its template has', { labels: on }, {}, on, ''],
    ['an opt-out of a Deployment', {}, {}, off, ''],
    ['an annotation of a pod', { annotations: on }, {}, {}, "the pod's annotation sidecar.istio.io/inject=true"],
    [
      'an annotation of a namespace',
      {},
      { 'istio-injection': 'enabled' },
      {},
      "the namespace's annotation istio-injection=enabled",
    ],
  ];
  for (const [where, metadata, annotations, owner, found] of misplaced) {
    it(`finds ${found === '' ? 'no mistake in' : ''} ${where}`, () => {
      const creation = {
        pod: { metadata } as never,
        namespace: { name: 'shop', labels: {}, annotations: annotations as never },
      };
      const [mistake] = misplacedLabels(creation, [istio], deployment(owner));
      assert.equal(mistake?.message.split(' has no effect: make it a label of the ')[0] ?? '', found);
      const optsOut = misplacedLabels(creation, [istio], deployment(owner), true).length > 0;
      assert.equal(optsOut, owner === off);
    });
  }

  it('says which of several labels counts, and which labels must be annotations', () => {
    const notes = (labels: Record<string, string>, podLabels: Record<string, string>): string[] =>
      countingLabels({ pod: { metadata: { labels: podLabels } }, namespace: { name: 'shop', labels } }, [istio, istio]);
    const both = { 'istio-injection': 'enabled', 'istio.io/rev': 'prod' };
    assert.deepEqual(notes({ 'istio.io/rev': 'prod' }, on), []);
    assert.deepEqual(notes(both, { 'istio.io/rev': '1-25', 'sidecar.istio.io/proxyCPU': '1' }), [
      "the namespace's label istio-injection=enabled counts, not its label istio.io/rev=prod and the pod's label istio.io/rev=1-25",
      "the pod's label sidecar.istio.io/proxyCPU has no effect: make it an annotation",
    ]);
  });

  it('accepts an existing revision next to any other labels', () => {
    const name = fc.stringMatching(/^[a-z]{1,20}$/);
    fc.assert(
      fc.property(name, fc.dictionary(fc.stringMatching(/^[A-Z]{1,30}$/), name), (revision, others) => {
        const labels = { ...others, 'istio.io/rev': revision };
        assert.deepEqual(labelMistakes(labels, [{ keys: istioKeys, names: [revision] }]), []);
      }),
    );
  });
});
