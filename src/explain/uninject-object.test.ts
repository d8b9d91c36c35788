import assert from 'node:assert/strict';
import { loadInjector } from '../inject/injector.ts';
import { injectObject } from '../inject/objects/inject-object.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { recordOriginal, uninjectObject } from './uninject-object.ts';

const template = `
metadata:
  labels: {team: mesh}
  annotations: {kubectl.kubernetes.io/default-container: app}
spec:
  containers: [{name: log, image: log:1}]
  tolerations: [{key: all, operator: Exists}]
  priorityClassName: low
  securityContext: {fsGroup: 1000}
  volumes: [{name: logs, emptyDir: {}}]
`;

describe('an object of a file that is injected and uninjected', () => {
  const configOf = (sidecar: string): string => JSON.stringify({ templates: { sidecar }, policy: 'enabled' });
  const files = { config: configOf(template), values: '', mesh: '', settings: '{}' };
  const injector = loadInjector(files);
  const by = { injector, request: { namespace: 'default' } };
  const app = { name: 'app', image: 'app:1' };
  const inject = (object: JsonObject): JsonObject => {
    const result = injectObject(injector, object, {});
    assert.equal(result.outcome, 'injected');
    return recordOriginal(object, (result as { object: JsonObject }).object, by);
  };
  const pod = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => {
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', ...metadata },
      spec: { containers: [app], ...spec },
    };
  };
  const annotations = { 'kubectl.kubernetes.io/default-container': 'app' };
  const cases: [title: string, object: JsonObject][] = [
    [
      'the values of the template',
      pod({ tolerations: [{ key: 'all', operator: 'Exists' }], priorityClassName: 'low' }),
    ],
    [
      'other values',
      pod({ tolerations: [{ key: 'own' }], priorityClassName: 'high', securityContext: { fsGroup: 1 } }),
    ],
    ['labels and annotations of the template', pod({}, { labels: { team: 'mesh' }, annotations })],
    [
      'empty maps and lists',
      pod({ securityContext: {}, tolerations: [], affinity: {} }, { annotations: {}, labels: {} }),
    ],
    ['a name of every object', pod({}, { labels: JSON.parse('{"__proto__": "x", "team": "own"}') as JsonObject })],
    ['the volume of the template', pod({ volumes: [{ name: 'logs', emptyDir: {} }] })],
    ['nothing of the template', pod({})],
    [
      'a pod template with empty metadata',
      { apiVersion: 'batch/v1', kind: 'Job', spec: { template: { metadata: {}, spec: { containers: [app] } } } },
    ],
    [
      'a pod template without metadata',
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'j' },
        spec: { template: { spec: { containers: [app] } } },
      },
    ],
  ];
  for (const [title, object] of cases)
    for (const known of [by, undefined])
      it(`comes back with ${title}, ${known === undefined ? 'without' : 'with'} the configuration`, () => {
        const injected = inject(object);
        assert.match(JSON.stringify(injected), /log:1/);
        assert.deepEqual(uninjectObject(injected, known)?.object, object);
        assert.deepEqual(uninjectObject(inject(injected), known)?.object, object, 'injected twice');
      });

  it('gets no record if its pod comes back without one', () => {
    const text = 'spec: {containers: [{name: log, image: "log:1"}]}';
    const plain = { ...by, injector: loadInjector({ ...files, config: configOf(text) }) };
    const result = injectObject(plain.injector, pod({}), {}) as { object: JsonObject };
    assert.equal(recordOriginal(pod({}), result.object, plain), result.object);
  });

  it('keeps later edits of other fields', () => {
    const injected = inject(pod({ priorityClassName: 'high' })) as { spec: JsonObject };
    const edited = { ...injected, spec: { ...injected.spec, nodeName: 'n' } };
    assert.deepEqual(uninjectObject(edited, by)?.object, pod({ priorityClassName: 'high', nodeName: 'n' }));
  });

  it('reads a record of any shape', () => {
    const injected = inject(pod({}));
    for (const record of [
      '',
      '[]',
      '{"spec":null}',
      '{"metadata":[],"spec":{"containers":{"x":1}}}',
      '{"__proto__":{"a":1}}',
    ]) {
      const metadata = { ...(injected.metadata as JsonObject) };
      const forged = { ...(metadata.annotations as JsonObject), 'sidecar-injector.io/original': record };
      assert.ok(uninjectObject({ ...injected, metadata: { ...metadata, annotations: forged } }, by)?.isInjected);
    }
  });
});
