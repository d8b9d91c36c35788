import assert from 'node:assert/strict';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { configOfRevision, namedByNamespace, namedByPod, namespacesNaming } from './installation.ts';
import type { Labels } from '../../selection/label-selector.ts';

const inject = (value: string): Labels => ({ 'sidecar.istio.io/inject': value });
const revision = (value: string): Labels => ({ 'istio.io/rev': value });
const injection = (value: string): Labels => ({ 'istio-injection': value });

describe('namedByPod', () => {
  const rows: [string, Labels, Labels, string | undefined][] = [
    ['an enabled namespace', injection('enabled'), {}, 'default'],
    ['an enabled namespace with revisions', { ...injection('enabled'), ...revision('x') }, revision('y'), 'default'],
    ['a pod that opts out', injection('enabled'), inject('false'), undefined],
    ['a disabled namespace', injection('disabled'), { ...inject('true'), ...revision('x') }, undefined],
    ['a namespace with an unknown value', { ...injection('on'), ...revision('x') }, {}, undefined],
    ['a namespace of a revision', revision('x'), revision('y'), 'x'],
    ['a pod that opts out of a revision', revision('x'), inject('false'), undefined],
    ['a pod of a revision', {}, revision('y'), 'y'],
    ['a pod of a revision that opts out', {}, { ...revision('y'), ...inject('false') }, undefined],
    ['a pod that opts in', {}, inject('true'), 'default'],
    ['a pod with an unknown value', {}, inject('yes'), undefined],
    ['no labels', {}, {}, undefined],
  ];
  for (const [title, namespace, pod, name] of rows) {
    it(`returns ${name ?? 'nothing'} for ${title}`, () => {
      assert.equal(namedByPod(istioKeys, namespace, pod), name);
    });
  }

  it('reads the labels of a namespace by family', () => {
    assert.equal(namedByNamespace(istioKeys, { ...injection('enabled'), ...revision('x') }), 'default');
    assert.equal(namedByNamespace({ ...istioKeys, revision: 'logs/rev' }, revision('x')), undefined);
    const namespaces = new Map(Object.entries({ b: revision('x'), a: revision('x'), c: injection('enabled') }));
    assert.deepEqual(namespacesNaming({ namespaces }, istioKeys, 'x'), ['a', 'b']);
  });
});

describe('configOfRevision', () => {
  const logs = { injection: 'l', revision: 'l/rev', inject: 'l/inject', status: 'l/status' };
  const config = (name: string, day: number, spec: object = {}): InjectorConfig =>
    parseInjectorConfig({
      apiVersion: 'sidecar-injector.io/v1alpha1',
      kind: 'InjectorConfig',
      metadata: { name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
      spec: { revision: 'x', ...spec },
    });
  const chosen = (configs: InjectorConfig[], injectorConfig?: string): string | undefined => {
    const tag = revisionTag('t');
    const target = injectorConfig === undefined ? undefined : { ...tag, status: { injectorConfig } };
    return configOfRevision({ configs }, 'x', target)?.metadata.name;
  };

  it('returns the oldest InjectorConfig, unless another has the name of the revision', () => {
    assert.equal(chosen([config('b', 2), config('a', 3), config('c', 1)]), 'c');
    assert.equal(chosen([config('c', 1), config('x', 2)]), 'x');
  });

  it("prefers the family and class of the tag's target", () => {
    const configs = [config('x', 1), config('l', 2, { webhook: { keys: logs } })];
    assert.equal(chosen(configs, 'x'), 'x');
    assert.equal(chosen(configs, 'l'), 'l');
    assert.equal(chosen([config('x', 1, { operatorClass: 'blue' }), config('z', 2)], 'z'), 'z');
  });

  it('ignores objects that are being deleted or have another revision', () => {
    const going = config('x', 1);
    going.metadata.deletionTimestamp = '2026-01-09T00:00:00Z';
    assert.equal(chosen([going, config('y', 1, { revision: 'y' })]), undefined);
  });
});
