import assert from 'node:assert/strict';
import { badInjectorConfigs } from '../testdata/bad-injector-configs.ts';
import { injectorConfig } from '../testdata/injector-config.ts';
import { validateInjectorConfig } from './validate-injector-config.ts';

describe('validateInjectorConfig', () => {
  for (const { title, name, spec, field, refusedBy, message } of badInjectorConfigs) {
    if (refusedBy === 'schema') continue;
    it(`refuses ${title}`, () => {
      const mistakes = validateInjectorConfig(injectorConfig(name ?? 'candidate', { injection: {}, ...spec }));
      const found = mistakes.filter((mistake) => mistake.field === field).map((mistake) => mistake.message);
      assert.ok(
        found.some((text) => text.includes(field) && message.test(text)),
        JSON.stringify(mistakes),
      );
    });
  }

  const injection = (fields: object): Record<string, unknown> => ({ injection: fields });
  const istio = { namespace: 'istio-system', name: 'istio-sidecar-injector', key: 'config' };
  const mesh = { namespace: 'istio-system', name: 'istio', key: 'mesh' };
  const templates = { sidecar: 'x', grpc: 'y' };
  const matchExpressions = [
    { key: 'a', operator: 'In', values: ['b', ''] },
    { key: 'a', operator: 'NotIn', values: ['b'] },
    { key: 'a', operator: 'Exists' },
    { key: 'a', operator: 'DoesNotExist', values: [] },
  ];
  const selectors = [{ matchLabels: { 'example.com/a': 'b', c: '' } }, { matchExpressions }];
  const fromIstio = { configFrom: istio, meshConfigFrom: mesh, enableNamespacesByDefault: true };
  const good: [string, string, Record<string, unknown>][] = [
    ['a minimal spec', 'hello', {}],
    ['the name default', 'default', {}],
    ['the name and revision default', 'default', { revision: 'default' }],
    ['a revision that differs from the name', 'mesh-a', { revision: '1-24' }],
    ['a name of 46 characters', 'n'.repeat(46), {}],
    ['a name that ends in 7 hex digits', 'x-0123abc', {}],
    ['a single template with other delimiters', 'old', injection({ template: 'x', delimiters: ['[[', ']]'] })],
    ['aliases', 'a', injection({ templates, aliases: { both: ['sidecar', 'grpc'] }, defaultTemplates: ['both'] })],
    ["Istio's own ConfigMaps", 'default', injection({ ...fromIstio, nativeSidecars: 'Enabled' })],
    [
      'configFrom with values and empty fields',
      'a',
      injection({ configFrom: istio, values: {}, aliases: {}, neverInjectSelector: [] }),
    ],
    ['one template of any name', 'a', injection({ templates: { gateway: 'x' }, aliases: { all: ['gateway'] } })],
    ['an empty list of default templates', 'a', injection({ templates: { gateway: 'x' }, defaultTemplates: [] })],
    ['selection Custom with an empty selector', 'a', { webhook: { selection: 'Custom', objectSelector: {} } }],
    ['a url', 'a', { webhook: { url: 'https://injector.example.com:8443/some/path' } }],
    ['a url with an IP address', 'a', { webhook: { url: 'https://[fd00::1]:15017' } }],
    ['every operator of a selector', 'a', injection({ templates, neverInjectSelector: selectors })],
    ['the shortest validities of certificates', 'a', { certificate: { leafDuration: '1m', caDuration: '4m' } }],
  ];
  for (const [title, name, spec] of good) {
    it(`accepts ${title}`, () => {
      assert.deepEqual(validateInjectorConfig(injectorConfig(name, spec)), []);
    });
  }
});
