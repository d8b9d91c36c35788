import assert from 'node:assert/strict';
import { injectedByAnnotation } from '../api/names.ts';
import { loadInjector } from '../inject/injector.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { containerDefaults } from './pod-resources.ts';
import { isGenerated, type NamedInjector, originOf, predictPod } from './predict-pod.ts';

function named(template: string, policy = 'enabled'): NamedInjector {
  const settings = { delimiters: ['{{', '}}'], nativeSidecars: 'Disabled', revision: 'default', pathEnvironment: {} };
  const config = { policy, defaultTemplates: ['sidecar'], templates: { sidecar: template } };
  const files = { config: JSON.stringify(config), values: '{}', mesh: '', settings: JSON.stringify(settings) };
  return { name: 'mesh', hash: '11111111', injector: loadInjector(files) };
}

const mesh = named('spec: {containers: [{name: logger, image: "logger:1"}]}');
const context = { request: { namespace: 'shop', path: '/inject' }, containerDefaults: containerDefaults([]) };
const metadata = { generateName: 'web-', namespace: 'shop' };
const bare: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
};
const annotationsOf = (pod: JsonObject | undefined): JsonObject => objectAt(pod ?? {}, ['metadata', 'annotations']);

describe('the prediction of a stored pod', () => {
  it('has the entry of its configuration after those of other families', () => {
    for (const [others, entries] of [
      [undefined, 'mesh.11111111'],
      ['', 'mesh.11111111'],
      ['logs.22222222', 'logs.22222222,mesh.11111111'],
    ] as const) {
      const annotations = others === undefined ? {} : { [injectedByAnnotation]: others };
      const { pod } = predictPod({ ...bare, metadata: { ...metadata, annotations } }, mesh, context);
      assert.equal(annotationsOf(pod)[injectedByAnnotation], entries);
    }
  });

  it('says why a pod is refused or not injected', () => {
    const refused = predictPod(bare, named('{{ fail "no" }}'), context);
    assert.deepEqual([refused.outcome, refused.reason, refused.pod], ['Refused', 'TemplateFailed', undefined]);
    const invalid = predictPod(bare, named('spec: {containers: [{name: a}]}'), context);
    assert.deepEqual([invalid.outcome, invalid.reason, invalid.pod], ['Refused', 'InvalidPod', undefined]);
    const skipped = predictPod(bare, named('spec: {}', 'disabled'), context);
    assert.deepEqual([skipped.outcome, skipped.reason, skipped.pod], ['NotInjected', 'PolicyDisabled', bare]);
  });

  it('keeps what others changed in the stored pod, and only that', () => {
    const stored = predictPod(bare, mesh, context).pod ?? {};
    const labels = { team: 'blue' };
    const annotations = { ...annotationsOf(stored), [injectedByAnnotation]: 'logs.22222222,mesh.11111111' };
    const changed = { ...stored, metadata: { ...objectAt(stored, ['metadata']), name: 'web-x', labels, annotations } };
    const origin = originOf(changed, mesh, context);
    assert.equal(annotationsOf(origin.pod)[injectedByAnnotation], 'logs.22222222');
    const next = named('spec: {containers: [{name: logger, image: "logger:2"}]}');
    const finished = origin.finish(predictPod(origin.pod, next, context).pod ?? {});
    assert.deepEqual(objectAt(finished, ['metadata', 'labels']), labels);
    const images = (objectAt(finished, ['spec']).containers as JsonObject[]).map(({ image }) => image);
    assert.deepEqual(images, ['logger:2', 'web:1']);
  });

  it('keeps the entries of families before and after its own', () => {
    const stored = predictPod(bare, mesh, context).pod ?? {};
    const entries = 'logs.22222222,mesh.11111111,late.33333333';
    const annotations = { ...annotationsOf(stored), [injectedByAnnotation]: entries };
    const origin = originOf({ ...stored, metadata: { ...metadata, annotations } }, mesh, context);
    assert.deepEqual(origin.changedByOthers, []);
    const next = { ...mesh, name: 'mesh-2', hash: '44444444' };
    const finished = origin.finish(predictPod(origin.pod, next, context).pod ?? {});
    assert.equal(annotationsOf(finished)[injectedByAnnotation], 'logs.22222222,mesh-2.44444444,late.33333333');
  });

  it('starts from the stored pod if its injector is not known', () => {
    const { pod, changedByOthers, finish } = originOf(
      { ...bare, metadata: { name: 'alone', namespace: 'shop' } },
      undefined,
      context,
    );
    assert.equal(objectAt(pod, ['metadata']).name, 'alone');
    assert.deepEqual(changedByOthers, []);
    assert.equal(finish(pod), pod);
  });

  it('has the defaults of LimitRanges, of which the first wins', () => {
    const range = (cpu: string) => ({
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'a' },
      spec: { limits: [{ type: 'Pod', default: { cpu: '9' } }, { type: 'Container', default: { cpu } }, 3] },
    });
    const odd = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'b' }, spec: { limits: 'none' } };
    const defaults = containerDefaults([odd, range('1'), range('2')]);
    const { pod } = predictPod(bare, mesh, { ...context, containerDefaults: defaults });
    const containers = objectAt(pod ?? {}, ['spec']).containers as JsonObject[];
    assert.deepEqual(
      containers.map((each) => objectAt(each, ['resources', 'limits'])),
      [{ cpu: '1' }, { cpu: '1' }],
    );
    assert.ok(isGenerated('metadata.annotations["kubernetes.io/limit-ranger"]'));
    assert.ok(!isGenerated('metadata.annotations["a"]'));
  });
});
