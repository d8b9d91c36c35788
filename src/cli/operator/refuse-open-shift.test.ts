import assert from 'node:assert/strict';
import { loadInjector } from '../../inject/injector.ts';
import { refuseOpenShift } from './operator-process.ts';

describe('refuseOpenShift', () => {
  const injector = (settings: object) =>
    loadInjector({ config: 'templates: {}', values: '{}', mesh: '', settings: JSON.stringify(settings) });

  it('refuses a configuration that needs the ranges of namespaces, and says what to set', () => {
    refuseOpenShift(injector({}));
    assert.throws(() => refuseOpenShift(injector({ platform: 'OpenShift' })), {
      name: 'ConfigurationError',
      field: 'spec.injection.platform',
      message: /global\.platform .* set operator\.openShift of the chart/,
    });
  });
});
