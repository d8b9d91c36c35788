import assert from 'node:assert/strict';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { readConfigurationAtOnce } from '../../inject/configuration/read-configuration.ts';
import { inject } from '../../inject/inject.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { ConfigurationLoader, tryOut } from './configuration-loader.ts';
import { typicalPod } from '../../inject/rehearsal/typical-pods.ts';

function loader(clock = (): number => performance.now()) {
  const tried: ConfigurationFiles[] = [];
  const configurationLoader = new ConfigurationLoader({
    clock,
    trials: {
      try: (files) => {
        tried.push(files);
        return Promise.resolve().then(() => readConfigurationAtOnce(files));
      },
    },
    slices: { work: 0, busy: 0, patience: 0, rest: 0, lately: 0 },
  });
  return { tried, load: (files: ConfigurationFiles) => configurationLoader.load(files) };
}
const pod = { metadata: {}, spec: { containers: [] } };
const withConfig = (config: string): ConfigurationFiles => ({ ...someInjector.files, config });

describe('ConfigurationLoader', () => {
  it('loads a configuration with the limits of the main thread', async () => {
    const injector = await loader().load(
      withConfig('policy: enabled\ntemplates: {sidecar: "{{ range until 50000 }}{{ . }}{{ end }}"}\n'),
    );
    const result = inject(injector, { pod, namespace: 'shop' });
    assert.equal(result.outcome === 'failed' && result.reason, 'TemplateLimit');
  });

  it('lets the event loop run while it loads', async () => {
    let turns = 0;
    let isLoading = true;
    const turn = (): void => {
      turns++;
      if (isLoading) setImmediate(turn);
    };
    turn();
    await loader().load(withConfig(`policy: enabled\ntemplates: {sidecar: "${'{{ .Values }}'.repeat(500)}"}\n`));
    isLoading = false;
    assert.ok(turns > 20, `${turns} turns`);
  });

  it('tries every configuration first, and loads none that fails its trial', async () => {
    const { tried, load } = loader();
    const values = { ...someInjector.files, values: JSON.stringify({ large: 'x'.repeat(200_000) }) };
    const broken = withConfig('policy: [');
    await load(someInjector.files);
    const injector = await load(values);
    await assert.rejects(load(broken), { name: 'ConfigurationError' });
    assert.deepEqual(tried, [someInjector.files, values, broken]);
    assert.equal(injector.files, values);
  });

  it('loads one configuration at a time, and continues after a mistake', async () => {
    const { load } = loader();
    const order: string[] = [];
    const follow = async (name: string, config: string): Promise<void> => {
      await load(withConfig(config)).then(
        () => order.push(name),
        (error: unknown) => order.push(error instanceof Error ? error.name : ''),
      );
    };
    const long = `policy: enabled\ntemplates: {sidecar: "${'{{ .Values }}'.repeat(500)}"}\n`;
    await Promise.all([follow('first', long), follow('second', 'policy: ['), follow('third', 'policy: enabled')]);
    assert.deepEqual(order, ['ConfigurationError', 'first', 'third']);
  });

  it('compiles only changed templates, and shares other templates with loaded configurations', async () => {
    const { load } = loader();
    const template = (env: string): string =>
      `spec: {containers: [{name: proxy, image: "{{ .Values.global.image }}", env: [{name: ${env}, value: "{{ .ObjectMeta.Name }}"}]}]}`;
    const files = (one: string, image: string, revision = 'a'): ConfigurationFiles => ({
      config: `policy: enabled\ndefaultTemplates: [one, two]\ntemplates: {one: '${template(one)}', two: 'metadata: {labels: {two: "{{ .Revision }}"}}'}\n`,
      values: JSON.stringify({ global: { image } }),
      mesh: '{}',
      settings: JSON.stringify({ revision }),
    });
    const before = await load(files('A', 'first'));
    const values = await load(files('A', 'second'));
    const edited = await load(files('B', 'second'));
    const other = await load(files('A', 'first', 'b'));
    const isShared = (injector: Injector, name: string): boolean =>
      injector.templates.byName.get(name) === before.templates.byName.get(name);
    assert.deepEqual([isShared(values, 'one'), isShared(values, 'two')], [true, true]);
    assert.deepEqual([isShared(edited, 'one'), isShared(edited, 'two')], [false, true]);
    assert.deepEqual([isShared(other, 'one'), isShared(other, 'two')], [false, false]);
    // Alternate between configurations: each pod must equal the pod from a new process.
    for (const name of ['x', 'x', 'y']) {
      for (const injector of [before, values, edited, other, before]) {
        const request = { pod: { metadata: { name }, spec: { containers: [] } }, namespace: 'shop' };
        const patchOf = (from: Injector): string => {
          const result = inject(from, request);
          assert.ok(result.outcome === 'injected', JSON.stringify(result));
          return JSON.stringify(result.patch);
        };
        assert.equal(patchOf(injector), patchOf(loadInjector(injector.files)));
        assert.match(patchOf(injector), injector === before || injector === other ? /first/ : /second/);
      }
    }
  });

  it('loads a configuration that injected no pod in its trial', async () => {
    const injector = await loader().load(withConfig('policy: enabled\ntemplates: {sidecar: "{{ fail .Values }}"}\n'));
    assert.deepEqual(injector.templateNames, ['sidecar']);
  });
});

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
  it('injects different pods, which opt in and have no unsafe annotations', () => {
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

  it('injects one pod in each step, up to a limit', () => {
    assert.equal([...tryOut(someInjector, () => 0, true)].length, 15);
    assert.equal([...tryOut(someInjector, () => 0, false)].length, 60);
  });

  it('ends early if a template is slow', () => {
    let time = 0;
    const clock = (): number => (time += 10);
    assert.equal([...tryOut(someInjector, clock, true)].length, 5);
  });

  it('does not cache the outputs', () => {
    const injector = injectorWith(printing);
    const { outputs } = injector.templates;
    const before = outputs.read('a: 1');
    assert.equal(outputs.read('a: 1'), before);
    assert.equal([...tryOut(injector, () => 0, true)].length, 15);
    assert.notEqual(outputs.read('a: 1'), before);
  });

  it('continues if a template fails', () => {
    const failing = injectorWith('policy: enabled\ntemplates: {sidecar: "{{ fail .Values }}"}\n');
    assert.equal([...tryOut(failing, () => 0, true)].length, 15);
  });
});
