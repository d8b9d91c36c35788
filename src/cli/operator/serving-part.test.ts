import assert from 'node:assert/strict';
import { loadInjector } from '../../inject/injector.ts';
import { InjectorRegistry } from './serving-part.ts';

describe('InjectorRegistry', () => {
  const settings = JSON.stringify({
    revision: 'a',
    delimiters: ['{{', '}}'],
    nativeSidecars: 'Disabled',
    keys: { injection: 'i', revision: 'r', inject: 'j', status: 's' },
    pathEnvironment: {},
  });
  const injector = loadInjector({ config: 'templates: {sidecar: ""}', values: '{}', mesh: '', settings });

  it('stores configurations of several InjectorConfigs until they are deleted', () => {
    const registry = new InjectorRegistry();
    registry.set('a', '11111111', injector);
    registry.set('a', '22222222', injector);
    registry.set('b', '11111111', injector);
    registry.delete('a', '11111111');
    assert.equal(registry.get('a', '11111111'), undefined);
    assert.equal(registry.get('a', '22222222'), injector);
    assert.equal(registry.get('b', '11111111'), injector);
    registry.delete('b', '33333333');
    registry.delete('c', '11111111');
    assert.equal(registry.get('b', '11111111'), injector);
    registry.delete('b', '11111111');
    assert.equal(registry.get('b', '11111111'), undefined);
  });

  for (const name of ['__proto__', 'constructor']) {
    it(`has no entry named ${name}`, () => {
      assert.equal(new InjectorRegistry().get(name, 'toString'), undefined);
    });
  }
});
