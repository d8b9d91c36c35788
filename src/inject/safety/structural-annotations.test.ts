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

  it('are refused by name, with the field that allows them', () => {
    const result = safely(template, { annotations: { [image]: 'evil:1' } });
    assert.deepEqual(result, {
      outcome: 'failed',
      reason: 'AnnotationNotAllowed',
      message:
        'annotation sidecar.istio.io/proxyImage (value "evil:1") is structural, it chooses the image of the proxy, and may not be used here: remove it from the pod, or let an administrator add it to annotationOverrides.allow of the injector (spec.injection of its InjectorConfig, or --annotation-overrides)',
    });
  });

  it('may say what the template says anyway: an earlier injection left it', () => {
    assert.equal(safely(template, { annotations: { [image]: 'proxy:1' } }).outcome, 'injected');
  });

  it('may be used where they are allowed', () => {
    assert.equal(safely(template, { annotations: { [image]: 'mine:1' } }, [image]).outcome, 'injected');
  });

  it('mean nothing to a template that does not read them', () => {
    assert.equal(safely(sidecar(''), { annotations: { [image]: 'evil:1' } }).outcome, 'injected');
  });
});

describe('what annotations ask of the engine', () => {
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
    it(title, () => {
      assert.equal(reasonOf(run({ annotations: { [name]: value } })), 'AnnotationNotAllowed');
      assert.equal(reasonOf(run({ annotations: { [name]: value } }, [name])), 'injected');
      assert.equal(reasonOf(run({ annotations: { 'inject.istio.io/templates': 'sidecar' } })), 'injected');
    });
  }

  const saved = (container: JsonObject): Author => ({
    annotations: { 'proxy.istio.io/overrides': JSON.stringify({ containers: [{ name: 'web', ...container }] }) },
  });
  const overrides: [title: string, author: Author, outcome: string][] = [
    ['what the pod says too', saved({ image: 'web:1' }), 'injected'],
    ['another image', saved({ image: 'evil:1' }), 'AnnotationNotAllowed'],
    ['a privilege', saved({ securityContext: { privileged: true } }), 'AnnotationNotAllowed'],
    ['a variable', saved({ env: [{ name: 'LD_PRELOAD', value: 'x' }] }), 'AnnotationNotAllowed'],
    ['a container that is not there', saved({ name: 'evil', image: 'evil:1' }), 'AnnotationNotAllowed'],
  ];
  for (const [title, author, outcome] of overrides) {
    it(`saved overrides with ${title}`, () => {
      assert.equal(reasonOf(run(author)), outcome);
      assert.equal(reasonOf(run(author, ['proxy.istio.io/overrides'])), 'injected');
    });
  }

  it('saved overrides with the variables of the pod', () => {
    const env = [{ name: 'A', value: 'x' }];
    const spec = { containers: [{ name: 'web', image: 'web:1', env }] };
    assert.equal(reasonOf(run({ ...saved({ env }), spec })), 'injected');
  });

  it('an injected pod again', () => {
    const injector = loadInjector(files());
    const proxy = { name: 'istio-proxy', image: 'auto', securityContext: { runAsUser: 5 } };
    const pod = podOf({ spec: { containers: [{ name: 'web', image: 'web:1' }, proxy] } });
    const first = inject(injector, { pod, namespace: 'shop' });
    assert.ok(first.outcome === 'injected');
    assert.equal(reasonOf(inject(injector, { pod: first.pod, namespace: 'shop' })), 'injected');
  });
});
