import assert from 'node:assert/strict';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { NativeSidecars } from '../../api/injector-config/injection-settings.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { loadInjector } from '../../inject/injector.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { injectorConfig, template } from '../testdata/operator-fixture.ts';
import {
  describeConfiguration,
  type FixedMode,
  modeToPublish,
  modeToRecord,
  possibleModes,
  withFixedMode,
} from './native-mode.ts';

const nodes = (...versions: string[]) =>
  versions.map((kubeletVersion, index) => ({ name: `node-${index}`, kubeletVersion }));
const fresh = nodes('v1.33.0', 'v1.36.1');
const mixed = nodes('v1.33.0', 'v1.29.4');
const ancient = nodes('v1.33.0', 'v1.27.9');

function configOf(nativeSidecars: NativeSidecars, image: string, recorded?: FixedMode): InjectorConfig {
  const object = injectorConfig('blue', { injection: { templates: { sidecar: template(image) }, nativeSidecars } });
  const message = recorded && `1 template compiles; ${describeConfiguration('00000000', recorded)}`;
  const condition = {
    type: 'TemplatesValid',
    status: 'True',
    reason: 'Compiled',
    message,
    lastTransitionTime: '2026-06-01T00:00:00Z',
  };
  const status = message && { config: { hash: '00000000' }, conditions: [condition] };
  return parseInjectorConfig({ ...object, ...(status && { status }) });
}

const filesWith = (mode: NativeSidecars): ConfigurationFiles => configurationFiles(configOf('Auto', 'a'), {}, mode);

describe('modeToPublish', () => {
  const rows: [name: string, InjectorConfig, NativeSidecars | undefined, typeof fresh, NativeSidecars][] = [
    ['a first publication on new kubelets', configOf('Auto', 'a'), undefined, fresh, 'Enabled'],
    ['a first publication on older kubelets', configOf('Auto', 'a'), undefined, mixed, 'Disabled'],
    ['a first publication without nodes', configOf('Auto', 'a'), undefined, [], 'Disabled'],
    ['new kubelets alone', configOf('Auto', 'a'), 'Disabled', fresh, 'Disabled'],
    ['an edit on new kubelets', configOf('Auto', 'b'), 'Disabled', fresh, 'Enabled'],
    ['an edit on older kubelets', configOf('Auto', 'b'), 'Disabled', mixed, 'Disabled'],
    ['a kubelet that Istio does not trust', configOf('Auto', 'a'), 'Enabled', mixed, 'Enabled'],
    ['an edit beside such a kubelet', configOf('Auto', 'b'), 'Enabled', mixed, 'Enabled'],
    ['a kubelet without native sidecars', configOf('Auto', 'a'), 'Enabled', ancient, 'Disabled'],
    ['such a kubelet and mode Enabled', configOf('Enabled', 'a'), 'Enabled', ancient, 'Enabled'],
    ['an unknown kubelet', configOf('Auto', 'a'), 'Enabled', nodes(''), 'Enabled'],
    ['the action of the user', configOf('Enabled', 'a'), 'Disabled', mixed, 'Enabled'],
    ['a return to Auto after it', configOf('Auto', 'a'), 'Enabled', mixed, 'Enabled'],
    ['an upgrade of the operator', configOf('Auto', 'a'), 'Auto', fresh, 'Auto'],
    ['an upgrade, then new kubelets', configOf('Auto', 'a', 'Disabled'), 'Auto', fresh, 'Auto'],
    ['an upgrade, then an edit', configOf('Auto', 'b', 'Disabled'), 'Auto', fresh, 'Enabled'],
    ['an upgrade, then an older kubelet', configOf('Auto', 'a', 'Enabled'), 'Auto', mixed, 'Auto'],
    ['an upgrade, then an ancient kubelet', configOf('Auto', 'a', 'Enabled'), 'Auto', ancient, 'Disabled'],
    ['an upgrade beside ancient kubelets', configOf('Auto', 'a'), 'Auto', ancient, 'Auto'],
  ];
  for (const [name, config, before, kubelets, mode] of rows) {
    it(`returns ${mode} for ${name}`, () => {
      const published = before && { files: filesWith(before), hash: '00000000' };
      assert.equal(modeToPublish(config, {}, { published, nodes: kubelets }), mode);
    });
  }

  it('asks istiod’s setting in the values of configFrom if the spec has none', () => {
    const configFrom = { namespace: 'istio-system', name: 'istio-sidecar-injector', key: 'config' };
    const modeOf = (values: string, more: object = {}): NativeSidecars => {
      const config = parseInjectorConfig(injectorConfig('blue', { injection: { configFrom, ...more } }));
      return modeToPublish(config, { config: 'templates: {}', values }, { nodes: fresh });
    };
    const env = (mode: string): string => JSON.stringify({ pilot: { env: { ENABLE_NATIVE_SIDECARS: mode } } });
    assert.equal(modeOf(env('false')), 'Disabled');
    assert.equal(modeOf(env('auto')), 'Enabled');
    assert.equal(modeOf(env('false'), { nativeSidecars: 'Auto' }), 'Enabled');
    assert.equal(modeOf('[', {}), 'Enabled', 'the compilation reports invalid values');
  });

  it('changes only with the possible modes of the nodes', () => {
    assert.equal(new Set([fresh, mixed, ancient, nodes('v1.40.0')].map(possibleModes)).size, 3);
  });
});

describe('modeToRecord', () => {
  it('records the mode at the upgrade, and then that of the status or of the ConfigMap', () => {
    const stored = { files: filesWith('Auto'), hash: '00000000' };
    assert.equal(modeToRecord(configOf('Auto', 'a'), stored, fresh), 'Enabled');
    assert.equal(modeToRecord(configOf('Auto', 'a'), { ...stored, recorded: 'Disabled' }, fresh), 'Disabled');
    const stated = configOf('Auto', 'a', 'Disabled');
    assert.equal(modeToRecord(stated, { ...stored, recorded: 'Enabled' }, fresh), 'Disabled');
    assert.equal(modeToRecord(stated, { ...stored, hash: '11111111' }, fresh), 'Enabled', 'of another configuration');
    assert.equal(modeToRecord(configOf('Auto', 'a'), { ...stored, files: filesWith('Disabled') }, fresh), undefined);
  });

  it('replaces Auto, and only Auto', () => {
    assert.deepEqual(withFixedMode(filesWith('Auto'), 'Enabled'), filesWith('Enabled'));
    assert.equal(loadInjector(withFixedMode(filesWith('Auto'), 'Disabled')).settings.nativeSidecars, 'Disabled');
    assert.deepEqual(withFixedMode(filesWith('Disabled'), 'Enabled'), filesWith('Disabled'));
    const broken = { ...filesWith('Auto'), settings: '{' };
    assert.match(withFixedMode(broken, 'Enabled').settings, /Enabled/);
  });
});
