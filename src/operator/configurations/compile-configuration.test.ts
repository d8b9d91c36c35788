import type { PodsVerdict } from '../../inject/rehearsal/dry-run.ts';
import type { ListPage } from '../../kube/api-client.ts';
import assert from 'node:assert/strict';
import { ConfigurationError, TooCostlyError } from '../../api/errors.ts';
import type { InjectorConfig, InjectorConfigStatus } from '../../api/injector-config/injector-config.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { FollowedObjects } from '../followed-objects.ts';
import type { Rehearsal } from '../../inject/injection-result.ts';
import {
  type CompiledConfiguration,
  type CompilerMemory,
  ConfigurationCompiler,
  RefusedConfigurationError,
} from './compile-configuration.ts';
import { PassMemory } from '../controller/pass-context.ts';
import type { TryConfiguration } from '../ports.ts';
import { injectorConfig, loadAtOnce, template } from '../testdata/operator-fixture.ts';

const { signal } = new AbortController();

function config(generation: number, injection: Record<string, unknown>): InjectorConfig {
  const object = injectorConfig('blue', { injection });
  object.metadata = { ...object.metadata, uid: 'u', generation };
  return parseInjectorConfig(object);
}

function compilerReading(
  values: Record<string, string>,
  tryOne: TryConfiguration = loadAtOnce,
  memory = new PassMemory<CompilerMemory>(),
  verdict: PodsVerdict = { invalid: [], isRefused: false },
): ConfigurationCompiler {
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'v', namespace: 'n' }, data: values };
  const page = { items: [configMap], resourceVersion: '', continue: undefined };
  const client = { list: <T>() => Promise.resolve(page as ListPage<T>) };
  const nothing = (): void => undefined;
  const referred = new FollowedObjects({ client, follow: nothing, onChange: nothing });
  const judge = () => Promise.resolve(verdict);
  return new ConfigurationCompiler(referred, tryOne, memory, judge);
}

describe('ConfigurationCompiler', () => {
  it('doubts settings that contradict those of istiod', async () => {
    const values = JSON.stringify({ pilot: { env: { ENABLE_NATIVE_SIDECARS: 'false' } } });
    const istio = JSON.stringify({ policy: 'enabled', templates: { sidecar: template('a') } });
    const configFrom = { namespace: 'n', name: 'v', key: 'config' };
    const compiler = compilerReading({ config: istio, values });
    const compiled = await compiler.compile(config(1, { configFrom }), signal);
    assert.deepEqual([compiled.requestedMode, compiled.doubts], ['Disabled', []]);
    const { doubts } = await compiler.compile(config(2, { configFrom, nativeSidecars: 'Enabled' }), signal);
    assert.match(
      doubts.join(),
      /nativeSidecars is "Enabled", but pilot\.env\.ENABLE_NATIVE_SIDECARS .* means "Disabled"/,
    );
  });

  it('compiles a configuration again only when it has changed', async () => {
    const memory = new PassMemory<CompilerMemory>();
    const compiler = compilerReading({}, loadAtOnce, memory);
    const first = await compiler.compile(config(1, { templates: { sidecar: template('a') } }), signal);
    assert.equal(first.templates, 1);
    assert.equal(await compiler.compile(config(1, { templates: { sidecar: template('a') } }), signal), first);
    const second = await compiler.compile(config(2, { templates: { sidecar: template('b') } }), signal);
    assert.notEqual(second.hash, first.hash);
    memory.forget('blue');
    const again = await compiler.compile(config(2, { templates: { sidecar: template('b') } }), signal);
    assert.notEqual(again, second);
    assert.equal(again.hash, second.hash);
  });

  const configFrom = { namespace: 'n', name: 'v', key: 'config' };
  const meshConfigFrom = { namespace: 'n', name: 'v', key: 'mesh' };
  const istio = (image: string): string =>
    `policy: enabled\ntemplates:\n  sidecar: |\n    ${template(image).replaceAll('\n', '\n    ')}\n`;

  it("compiles the data of Istio's ConfigMaps, and compiles again when the data changes", async () => {
    const texts = { config: istio('a'), values: '{}', mesh: 'trustDomain: a\n' };
    const compiler = compilerReading(texts);
    const refers = config(1, { configFrom, meshConfigFrom });
    const hashes = [(await compiler.compile(refers, signal)).hash];
    for (const [key, text] of Object.entries({ config: istio('b'), values: '{"x": 1}', mesh: 'trustDomain: b\n' })) {
      Object.assign(texts, { [key]: text });
      const { files, hash } = await compiler.compile(refers, signal);
      assert.equal({ ...files }[key as 'mesh'], text);
      hashes.push(hash);
    }
    assert.equal(new Set(hashes).size, 4);
  });

  const istioTexts = { config: istio('a'), values: '{}', mesh: '' };
  const place = (key: string): string => `key "${key}" of configmap "v" in namespace "n": `;
  const missing = (key: string): string => `missing configuration map key "${key}" in configmap "v"`;
  const unnamed = (name: string) => `config.defaultTemplates names "${name}", which is not in config.templates`;
  const mistakes: [what: string, texts: Partial<typeof istioTexts>, message: string][] = [
    ['an invalid template', { config: 'templates:\n  sidecar: "{{ if }}"\n' }, 'config.templates.sidecar: line 1'],
    ['a config that is not YAML', { config: 'policy: [' }, 'config: '],
    ['an invalid selector', { config: 'neverInjectSelector: [7]' }, 'config.neverInjectSelector'],
    ['a config without templates', { config: 'policy: enabled' }, `${unnamed('sidecar')}; it is empty`],
    [
      'a default template that does not exist',
      { config: `defaultTemplates: [proxy]\n${istio('a')}` },
      `${unnamed('proxy')}; it has sidecar`,
    ],
    ['values that are not a map', { values: '[1]' }, 'the text must be a JSON or YAML map'],
    ['values of a wrong type', { values: '{"global": {"hub": 7}}' }, 'values.global.hub must be a string'],
    ['a mesh config of a wrong type', { mesh: 'defaultConfig: 7' }, 'cannot parse mesh config'],
    ['a short duration', { mesh: 'defaultConfig: {drainDuration: 1ns}' }, 'cannot parse mesh config: defaultConfig'],
  ];
  for (const policy of ['on', '']) {
    it(`accepts policy ${JSON.stringify(policy)} in Istio's config, with a warning`, async () => {
      const text = istio('a').replace('enabled', JSON.stringify(policy));
      const compiler = compilerReading({ ...istioTexts, config: text });
      const { doubts } = await compiler.compile(config(1, { configFrom, meshConfigFrom }), signal);
      assert.deepEqual(doubts, [
        `config: policy is "${policy}", neither "enabled" nor "disabled": nothing is injected`,
      ]);
    });
  }

  const refusals: [what: string, texts: Record<string, string>, message: string][] = [
    ...mistakes.map(([what, texts, message]): [string, Record<string, string>, string] => {
      const [key = ''] = Object.keys(texts);
      const field = key === 'mesh' ? 'meshConfigFrom' : 'configFrom';
      return [what, { ...istioTexts, ...texts }, `${field}: ${place(key)}${message}`];
    }),
    [
      'a missing config',
      { values: '{}', mesh: '' },
      `configFrom: ${missing('config')} of namespace "n": it has mesh, values`,
    ],
    ['missing values', { config: '', mesh: '' }, `configFrom: ${missing('values')}`],
    ['a missing mesh config', { config: '', values: '' }, `meshConfigFrom: ${missing('mesh')}`],
  ];
  for (const [what, texts, message] of refusals) {
    it(`refuses ${what} in a ConfigMap, and names the ConfigMap and the key`, async () => {
      const refers = config(1, { configFrom, meshConfigFrom });
      await assert.rejects(compilerReading(texts).compile(refers, signal), (error) => {
        assert(error instanceof ConfigurationError);
        const expected = `InjectorConfig blue (revision blue): spec.injection.${message}`;
        assert.equal(error.message.slice(0, expected.length), expected);
        return true;
      });
    });
  }

  it('names no ConfigMap when it refuses fields of the spec that contradict each other', async () => {
    const both = config(1, { configFrom, policy: 'disabled' });
    await assert.rejects(
      compilerReading(istioTexts).compile(both, signal),
      /^ConfigurationError: spec\.injection\.configFrom cannot be combined with policy/,
    );
  });

  it('compiles again when a referenced ConfigMap has changed', async () => {
    const values = { key: '{"image": "a"}' };
    const compiler = compilerReading(values);
    const valuesFrom = { namespace: 'n', name: 'v', key: 'key' };
    const refers = config(1, { templates: { sidecar: template('x') }, valuesFrom });
    const first = await compiler.compile(refers, signal);
    values.key = '{"image": "b"}';
    assert.notEqual((await compiler.compile(refers, signal)).hash, first.hash);
  });

  it('refuses templates that fail for every typical pod, names their field, and returns warnings', async () => {
    const rehearsed =
      (rehearsal: Rehearsal): TryConfiguration =>
      async (files) => ({ ...(await loadAtOnce(files)), rehearsal });
    const compile = (rehearsal: Rehearsal): Promise<CompiledConfiguration> =>
      compilerReading({}, rehearsed(rehearsal)).compile(config(1, { templates: { sidecar: template('a') } }), signal);
    const failure = { reason: 'TemplateFailed', message: 'inject:4:29: no field Nmae' } as const;
    await assert.rejects(compile({ failure, warnings: [] }), {
      name: 'ConfigurationError',
      field: 'spec.injection.templates',
      message: 'spec.injection.templates: sidecar fails for every pod that was tried: inject:4:29: no field Nmae',
    });
    assert.deepEqual((await compile({ warnings: ['odd'] })).doubts, ['odd']);

    // An upgrade of the operator withdraws nothing.
    const { hash } = await compile({ warnings: [] });
    const published = { ...config(1, { templates: { sidecar: template('a') } }), status: { config: { hash } } };
    const kept = await compilerReading({}, rehearsed({ failure, warnings: ['odd'] })).compile(published, signal);
    assert.deepEqual(kept.doubts, [failure.message, 'odd']);
  });

  it('believes the API server rather than our own rules, except about missing values', async () => {
    const message = 'the API server refuses the injected pod: no';
    const failure = { reason: 'InvalidTemplateOutput', message } as const;
    const unjudged = { reason: 'DryRunForbidden', message: 'not asked' } as const;
    const compile = (isByServer: boolean, verdict: Partial<PodsVerdict> = {}): Promise<CompiledConfiguration> => {
      const unusable = { message, share: '11 of 11 typical pods', isEvery: true, isByServer };
      const tryOne: TryConfiguration = async (files) => ({
        ...(await loadAtOnce(files)),
        rehearsal: { failure, unusable, warnings: [] },
      });
      const known = { invalid: [], isRefused: false, ...verdict };
      const compiler = compilerReading({}, tryOne, new PassMemory<CompilerMemory>(), known);
      return compiler.compile(config(1, { templates: { sidecar: template('a') } }), signal);
    };
    assert.deepEqual((await compile(true)).doubts, []);
    await assert.rejects(compile(false), /fails for every pod that was tried: the API server refuses/);
    await assert.rejects(compile(true, { unjudged }), /fails for every pod that was tried/);
    await assert.rejects(compile(true, { isRefused: true, invalid: ['their words'] }), /templates: their words/);
  });

  it('retries a configuration that was too costly only after a change, even in a new process', async () => {
    let tried = 0;
    const tryOne: TryConfiguration = () => {
      tried++;
      return Promise.reject(new TooCostlyError('too large'));
    };
    const refusalOf = async (each: InjectorConfig): Promise<RefusedConfigurationError> => {
      const error: unknown = await compilerReading({}, tryOne)
        .compile(each, signal)
        .catch((thrown: unknown) => thrown);
      assert.ok(error instanceof RefusedConfigurationError);
      return error;
    };
    const bomb = config(1, { templates: { sidecar: template('a') } });
    const { hash, message } = await refusalOf(bomb);
    assert.equal(message, 'too large');
    const statusWith = (reason: string): InjectorConfigStatus => ({
      config: { refused: hash },
      conditions: [{ type: 'TemplatesValid', status: 'False', reason, message: 'recorded', lastTransitionTime: '' }],
    });
    const recorded = { ...bomb, status: statusWith('TooCostly') };
    assert.deepEqual([(await refusalOf(recorded)).message, tried], ['recorded', 1]);
    // A new generation with the same template produces the same configuration.
    const sameTexts = { ...config(2, { templates: { sidecar: template('a') } }), status: recorded.status };
    assert.deepEqual([(await refusalOf(sameTexts)).message, tried], ['recorded', 1]);
    const edited = { ...config(3, { templates: { sidecar: template('b') } }), status: recorded.status };
    assert.deepEqual([(await refusalOf(edited)).message, tried], ['too large', 2]);
    await refusalOf({ ...bomb, status: statusWith('ConfigurationInvalid') });
    assert.equal(tried, 3);
  });

  const valuesFrom = { namespace: 'n', name: 'v', key: 'key' };
  const tooLarge =
    /larger than the 900 KiB that fit in a ConfigMap: config 1 KiB, values 928 KiB, mesh 0 KiB, settings 1 KiB; shorten it/;
  const other = /defaultTemplates: "other" is not in spec.injection.templates; use one of sidecar/;
  const refused: [what: string, injection: Record<string, unknown>, values: string, message: RegExp][] = [
    ['a template that does not parse', { templates: { sidecar: '{{ if }}' } }, '', /templates\.sidecar.*line 1/s],
    ['names of templates that do not exist', { defaultTemplates: ['other'] }, '', other],
    ['invalid values', { valuesFrom }, '[1', /valuesFrom/],
    ['a configuration that is too large', { valuesFrom }, JSON.stringify({ large: 'x'.repeat(950_000) }), tooLarge],
  ];
  for (const [what, injection, key, message] of refused) {
    it(`refuses ${what}, on every call`, async () => {
      const compiler = compilerReading({ key });
      for (let turn = 0; turn < 2; turn += 1) {
        const refusal = compiler.compile(config(1, { templates: { sidecar: '' }, ...injection }), signal);
        await assert.rejects(refusal, { name: 'ConfigurationError', message });
      }
    });
  }
});
