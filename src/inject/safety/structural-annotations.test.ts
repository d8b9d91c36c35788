import assert from 'node:assert/strict';
import { inject } from '../inject.ts';
import type { InjectionResult } from '../injection-result.ts';
import { loadInjector } from '../injector.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { proxyFiles } from '../testdata/configurations.ts';
import { podOf, reasonOf, safely, sidecar, type Author } from './testdata/authors.ts';

describe('structural annotations of Istio’s family', () => {
  const image = 'sidecar.istio.io/proxyImage';
  const template = `${sidecar('').replace('sidecar:1', `{{ annotation .ObjectMeta "${image}" "proxy:1" | quote }}`)}metadata: {annotations: {${image}: {{ annotation .ObjectMeta "${image}" "proxy:1" | quote }}}}`;

  it('are refused, naming the field that allows them', () => {
    const result = safely(template, { annotations: { [image]: 'evil:1' } });
    assert.deepEqual(result, {
      outcome: 'failed',
      reason: 'AnnotationNotAllowed',
      message:
        'annotation sidecar.istio.io/proxyImage (value "evil:1") is not allowed because it chooses the image of the proxy: remove it from the pod, or ask an administrator to add it to spec.injection.annotationOverrides.allow of the InjectorConfig (or to --annotation-overrides)',
    });
  });

  it('may equal the template’s value, as after an earlier injection', () => {
    assert.equal(safely(template, { annotations: { [image]: 'proxy:1' } }).outcome, 'injected');
  });

  it('are accepted where they are allowed', () => {
    assert.equal(safely(template, { annotations: { [image]: 'mine:1' } }, [image]).outcome, 'injected');
  });

  it('are accepted if no template reads them', () => {
    assert.equal(safely(sidecar(''), { annotations: { [image]: 'evil:1' } }).outcome, 'injected');
  });
});

describe('annotations that the engine reads', () => {
  const files = (allow: readonly string[] = []) => ({
    ...proxyFiles,
    settings: JSON.stringify({ revision: 'r1', annotationOverrides: { preset: 'Safe', allow } }),
  });
  const run = (author: Author, allow: readonly string[] = []): InjectionResult =>
    inject(loadInjector(files(allow)), { pod: podOf(author), namespace: 'shop' });

  const choices: [title: string, name: string, value: string][] = [
    ['other templates', 'inject.istio.io/templates', 'log'],
    ['the proxy’s configuration', 'proxy.istio.io/config', 'concurrency: 1'],
  ];
  for (const [title, name, value] of choices) {
    it(`may not set ${title} unless allowed`, () => {
      assert.equal(reasonOf(run({ annotations: { [name]: value } })), 'AnnotationNotAllowed');
      assert.equal(reasonOf(run({ annotations: { [name]: value } }, [name])), 'injected');
      assert.equal(reasonOf(run({ annotations: { 'inject.istio.io/templates': 'sidecar' } })), 'injected');
    });
  }

  const saved = (container: JsonObject): Author => ({
    annotations: {
      'proxy.istio.io/overrides': JSON.stringify({ containers: [{ name: 'istio-proxy', ...container }] }),
    },
  });
  const overrides: [title: string, author: Author, outcome: string][] = [
    ['the template’s image', saved({ image: 'auto' }), 'injected'],
    ['another image', saved({ image: 'evil:1' }), 'SameName'],
    ['a privilege', saved({ securityContext: { privileged: true } }), 'SameName'],
    ['a variable', saved({ env: [{ name: 'LD_PRELOAD', value: 'x' }] }), 'SameName'],
    ['a container that neither pod nor template has', saved({ name: 'evil', image: 'evil:1' }), 'injected'],
  ];
  for (const [title, author, outcome] of overrides) {
    it(`result in ${outcome} if saved overrides contain ${title}`, () => {
      assert.equal(reasonOf(run(author)), outcome);
      assert.equal(reasonOf(run(author, ['proxy.istio.io/overrides'])), 'injected');
    });
  }

  it('are accepted in a pod that was injected before', () => {
    const annotationOverrides = { preset: 'Safe', sameNameFields: ['securityContext', 'args'] };
    const injector = loadInjector({ ...files(), settings: JSON.stringify({ annotationOverrides }) });
    const proxy = { name: 'istio-proxy', image: 'auto', securityContext: { runAsUser: 5 } };
    const pod = podOf({ spec: { containers: [{ name: 'web', image: 'web:1' }, proxy] } });
    const first = inject(injector, { pod, namespace: 'shop' });
    assert.ok(first.outcome === 'injected');
    assert.equal(reasonOf(inject(injector, { pod: first.pod, namespace: 'shop' })), 'injected');
  });
});
