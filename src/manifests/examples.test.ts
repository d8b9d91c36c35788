import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { injectorConfigKind } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { parseInjectorConfig } from '../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../api/revision-tag/parse-revision-tag.ts';
import { validateRevisionTag } from '../api/revision-tag/revision-tag-rules.ts';
import { validateInjectorConfig } from '../api/injector-config/validate-injector-config.ts';
import { configurationFiles, configurationReferences, type ConfigurationReference } from './configuration-files.ts';
import { context } from './testdata/manifest-context.ts';
import { webhookConfiguration } from './webhook-configuration.ts';

const folder = new URL('../../examples/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const objects = (file: string): KubernetesObject[] =>
  parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).map((document) => document.toJS() as KubernetesObject);
const configs = files.filter((file) => objects(file).some(({ kind }) => kind === injectorConfigKind));

/** Returns the texts that the InjectorConfig of a file refers to, from the same file. */
function referencedTexts(file: string): Record<string, string> {
  const [config, ...others] = objects(file);
  const references = configurationReferences(parseInjectorConfig(config).spec.injection);
  const textOf = ({ namespace, name, key }: ConfigurationReference): string => {
    const found = others.find(
      ({ kind, metadata }) =>
        `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}` === `ConfigMap ${namespace}/${name}`,
    );
    const text = (found?.data as Record<string, string> | undefined)?.[key];
    assert.ok(text, `${file} has no ConfigMap ${namespace}/${name} with key ${key}`);
    return text;
  };
  const all = Object.entries(references) as [string, ConfigurationReference][];
  return Object.fromEntries(all.map(([part, reference]) => [part, textOf(reference)]));
}

describe('examples', () => {
  it('are the known files', () => {
    assert.deepEqual(configs, [
      'hello.yaml',
      'istio-1.1-debug.yaml',
      'istio-1.1-release.yaml',
      'istio-config-maps.yaml',
      'kubesphere-logsidecar.yaml',
      'revision-1-24.yaml',
      'revision-1-25.yaml',
    ]);
  });

  for (const file of configs) {
    it(`${file} is a valid InjectorConfig and begins with a description`, () => {
      assert.match(readFileSync(new URL(file, folder), 'utf8'), /^# [A-Z]/);
      const config = parseInjectorConfig(objects(file)[0], { unknownFields: 'refuse' });
      assert.deepEqual(validateInjectorConfig(config), []);
      const { templates, template } = config.spec.injection;
      const texts = referencedTexts(file);
      const text = template ?? templates?.sidecar ?? texts.config ?? '';
      assert.ok(configurationFiles(config, texts).config.includes(text.split('\n')[1] ?? 'a second line'));
    });
  }

  for (const file of ['revision-tag-canary.yaml', 'revision-tag-restarts.yaml']) {
    it(`${file} is a valid RevisionTag, begins with a description, and names a revision of an example`, () => {
      assert.match(readFileSync(new URL(file, folder), 'utf8'), /^# [A-Z]/);
      const tag = parseRevisionTag(objects(file)[0], { unknownFields: 'refuse' });
      assert.deepEqual(validateRevisionTag(tag), []);
      assert.ok(files.includes(`revision-${tag.spec.revision}.yaml`));
    });
  }

  it('have unique names, so that all examples can be applied together', () => {
    const names = configs.map((file) => {
      const config = parseInjectorConfig(objects(file)[0]);
      return webhookConfiguration({ config, hash: '0123abcd', caBundlePem: '' }, context).metadata.name;
    });
    assert.equal(new Set(names).size, configs.length);
  });
});
