import assert from 'node:assert/strict';
import { ConfigurationError } from '../api/errors.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import { parseInjectorConfig } from '../api/parse-injector-config.ts';
import { ConfigurationCompiler } from './compile-configuration.ts';
import { ReferenceWatches } from './reference-watches.ts';
import { injectorConfig, template } from './testdata/operator-fixture.ts';

const { signal } = new AbortController();

function config(generation: number, injection: Record<string, unknown>): InjectorConfig {
  const object = injectorConfig('blue', { injection });
  object.metadata = { ...object.metadata, uid: 'u', generation };
  return parseInjectorConfig(object);
}

function compilerReading(values: Record<string, string>): ConfigurationCompiler {
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'v', namespace: 'n' }, data: values };
  const find = <T>(): Promise<T | undefined> => Promise.resolve(configMap as T);
  return new ConfigurationCompiler(
    new ReferenceWatches(
      { find },
      () => undefined,
      () => undefined,
    ),
  );
}

describe('ConfigurationCompiler', () => {
  it('compiles what has changed, and nothing else', async () => {
    const compiler = compilerReading({});
    const first = await compiler.compile(config(1, { templates: { sidecar: template('a') } }), signal);
    assert.equal(first.templates, 1);
    assert.equal(await compiler.compile(config(1, { templates: { sidecar: template('a') } }), signal), first);
    const second = await compiler.compile(config(2, { templates: { sidecar: template('b') } }), signal);
    assert.notEqual(second.hash, first.hash);
    compiler.forget('blue');
    const again = await compiler.compile(config(2, { templates: { sidecar: template('b') } }), signal);
    assert.notEqual(again, second);
    assert.equal(again.hash, second.hash);
  });

  it('compiles again when what is referred to has changed', async () => {
    const values = { key: '{"image": "a"}' };
    const compiler = compilerReading(values);
    const refers = config(1, {
      templates: { sidecar: template('x') },
      valuesFrom: { namespace: 'n', name: 'v', key: 'key' },
    });
    const first = await compiler.compile(refers, signal);
    values.key = '{"image": "b"}';
    assert.notEqual((await compiler.compile(refers, signal)).hash, first.hash);
  });

  const refused: [what: string, injection: Record<string, unknown>, values: string, message: RegExp][] = [
    ['a template that does not parse', { templates: { sidecar: '{{ if }}' } }, '', /templates\.sidecar.*line 1/s],
    [
      'names of templates that do not exist',
      { templates: { sidecar: '' }, defaultTemplates: ['other'] },
      '',
      /defaultTemplates names "other".*have sidecar/,
    ],
    [
      'values that are none',
      { templates: { sidecar: '' }, valuesFrom: { namespace: 'n', name: 'v', key: 'key' } },
      '[1',
      /valuesFrom/,
    ],
    [
      'what does not fit in a ConfigMap',
      { templates: { sidecar: '' }, valuesFrom: { namespace: 'n', name: 'v', key: 'key' } },
      JSON.stringify({ large: 'x'.repeat(950_000) }),
      /larger than the 900 KiB that fit in a ConfigMap: config 1 KiB, values 928 KiB, mesh 0 KiB, settings 1 KiB; shorten it/,
    ],
  ];
  for (const [what, injection, key, message] of refused) {
    it(`refuses ${what}, each time it is asked`, async () => {
      const compiler = compilerReading({ key });
      for (let turn = 0; turn < 2; turn += 1) {
        await assert.rejects(
          compiler.compile(config(1, injection), signal),
          (error) => error instanceof ConfigurationError && message.test(error.message),
        );
      }
    });
  }
});
