import assert from 'node:assert/strict';
import { parseValues } from './values.ts';

describe('parseValues', () => {
  it('reads the values that the engine needs, from JSON and from YAML', () => {
    for (const text of [
      '{"global": {"hub": "h", "tag": 1.20, "variant": "debug", "network": "net", "multiCluster": {"clusterName": "c"}, "proxy": {"image": "p", "holdApplicationUntilProxyStarts": true}, "proxy_init": {"image": "i"}}, "sidecarInjectorWebhook": {"rewriteAppHTTPProbe": true}}',
      'global: {hub: h, tag: 1.2, variant: debug, network: net, multiCluster: {clusterName: c}, proxy: {image: p, holdApplicationUntilProxyStarts: true}, proxy_init: {image: i}}\nsidecarInjectorWebhook: {rewriteAppHTTPProbe: true}\n',
    ]) {
      const { all, ...read } = parseValues(text);
      assert.deepEqual(read, {
        hub: 'h',
        tag: '1.2',
        variant: 'debug',
        proxyImage: 'p',
        proxyInitImage: 'i',
        clusterName: 'c',
        network: 'net',
        rewriteProbes: true,
        holdApplication: true,
      });
      assert.ok('global' in all);
    }
  });

  it('uses Istio’s image name and empty defaults if there are no values', () => {
    const { all, ...read } = parseValues('');
    assert.deepEqual(all, {});
    assert.deepEqual(
      [read.hub, read.tag, read.proxyImage, read.proxyInitImage, read.rewriteProbes],
      ['', '', 'proxyv2', 'proxyv2', false],
    );
    assert.deepEqual(parseValues('null').all, {});
    assert.deepEqual(parseValues('{global: null}').hub, '');
  });

  const wrong: [name: string, text: string, field: string, problem: RegExp][] = [
    ['invalid YAML', 'a: [', 'values', /^values: could not parse configuration values: yaml: line/],
    ['a list', '- a', 'values', /^values: could not parse configuration values: not an object$/],
    ['a number instead of a name', '{"global": {"hub": 1}}', 'values.global.hub', /must be a string, not 1$/],
    ['a string instead of an object', '{"global": "x"}', 'values.global.hub', /must be below an object, not "x"$/],
    [
      'a string instead of a boolean',
      '{"global": {"proxy": {"holdApplicationUntilProxyStarts": "yes"}}}',
      'values.global.proxy.holdApplicationUntilProxyStarts',
      /must be a boolean, not "yes"$/,
    ],
  ];
  for (const [name, text, field, message] of wrong) {
    it(`refuses ${name}`, () => {
      assert.throws(() => parseValues(text), { name: 'ConfigurationError', field, message });
    });
  }
});
