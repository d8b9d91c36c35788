import assert from 'node:assert/strict';
import { inject } from '../../inject/inject.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { typicalPod } from '../../inject/rehearsal/typical-pods.ts';
import { tryOut } from './configuration-loader.ts';

const settings = JSON.parse(someInjector.files.settings) as Record<string, unknown>;

function injectorWith(config: string, more: Record<string, unknown> = {}): Injector {
  return loadInjector({ ...someInjector.files, config, settings: JSON.stringify({ ...settings, ...more }) });
}

const printing = [
  'policy: disabled',
  'defaultTemplates: [sidecar]',
  'templates:',
  '  sidecar: |',
  '    spec:',
  '      containers:',
  '      - name: sidecar',
  '        image: sidecar',
  '        args: [{{ .ObjectMeta.GenerateName | quote }}, {{ .DeploymentMeta.Name | quote }}]',
].join('\n');

describe('tryOut', () => {
  it('injects pods that ask for it, each another one, and nothing that a guard would look at twice', () => {
    const injector = injectorWith(printing, { annotationOverrides: { preset: 'Safe', allow: [] } });
    const args = new Set<string>();
    for (let index = 0; index < 12; index++) {
      const { pod } = typicalPod(injector.settings.keys.inject, index);
      const result = inject(injector, { pod, namespace: 'default' });
      assert.equal(result.outcome, 'injected', JSON.stringify(result));
      args.add(JSON.stringify(result.patch));
    }
    assert.equal(args.size, 12);
  });

  it('injects one pod in each step, so many', () => {
    assert.equal([...tryOut(someInjector, () => 0, true)].length, 15);
    assert.equal([...tryOut(someInjector, () => 0, false)].length, 60);
  });

  it('ends when it has worked enough: a template may take long', () => {
    let time = 0;
    const clock = (): number => (time += 10);
    assert.equal([...tryOut(someInjector, clock, true)].length, 5);
  });

  it('keeps nothing of it', () => {
    const injector = injectorWith(printing);
    const { outputs } = injector.templates;
    const before = outputs.read('a: 1');
    assert.equal(outputs.read('a: 1'), before);
    assert.equal([...tryOut(injector, () => 0, true)].length, 15);
    assert.notEqual(outputs.read('a: 1'), before);
  });

  it('goes on where a template fails', () => {
    const failing = injectorWith('policy: enabled\ntemplates: {sidecar: "{{ fail .Values }}"}\n');
    assert.equal([...tryOut(failing, () => 0, true)].length, 15);
  });
});
