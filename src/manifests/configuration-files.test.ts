import assert from 'node:assert/strict';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { parse } from 'yaml';
import { ConfigurationError } from '../api/errors.ts';
import { configurationFiles, configurationReferences } from './configuration-files.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';

describe('configurationFiles', () => {
  it('writes a minimal configuration in a readable form', () => {
    const template = 'spec:\n  containers:\n  - name: hello # {{ .Revision }}\n    image: "busybox"\n';
    assert.deepEqual(configurationFiles(injectorConfig('hello', { injection: { templates: { sidecar: template } } })), {
      config: `policy: enabled
templates:
  sidecar: |
    spec:
      containers:
      - name: hello # {{ .Revision }}
        image: "busybox"
`,
      values: '{}',
      mesh: '',
      settings: `{
  "annotationOverrides": {
    "allow": [],
    "preset": "Safe"
  },
  "delimiters": [
    "{{",
    "}}"
  ],
  "keys": {
    "inject": "sidecar.istio.io/inject",
    "injection": "istio-injection",
    "revision": "istio.io/rev",
    "status": "sidecar.istio.io/status"
  },
  "nativeSidecars": "Auto",
  "pathEnvironment": {},
  "revision": "hello"
}`,
    });
  });

  const implied: [templates: object, more: object, names: string[] | undefined][] = [
    [{ proxy: 'a' }, {}, ['proxy']],
    [{ proxy: 'a' }, { aliases: { sidecar: ['proxy'] } }, undefined],
    [{ proxy: 'a' }, { defaultTemplates: [] }, undefined],
    [{ sidecar: 'a' }, {}, undefined],
    [{ proxy: 'a', sidecar: 'b' }, {}, undefined],
    [{ proxy: 'a', other: 'b' }, {}, undefined],
  ];
  for (const [templates, more, names] of implied) {
    it(`writes ${String(names)} as the default of ${JSON.stringify({ templates, ...more })}`, () => {
      const files = configurationFiles(injectorConfig('a', { injection: { templates, ...more } }));
      assert.deepEqual((load(files.config) as { defaultTemplates?: string[] }).defaultTemplates, names);
    });
  }

  it("writes every field under the corresponding key of Istio's format", () => {
    const injection = {
      policy: 'disabled',
      enableNamespacesByDefault: true,
      templates: { sidecar: 'a', grpc: 'b' },
      defaultTemplates: ['both'],
      aliases: { both: ['sidecar', 'grpc'] },
      alwaysInjectSelector: [{ matchLabels: { a: 'yes' } }],
      neverInjectSelector: [{ matchExpressions: [{ key: 'b', operator: 'Exists' }] }],
      injectedAnnotations: { 'example.com/on': 'true' },
      values: { global: { hub: 'h', debug: false } },
      meshConfig: { rootNamespace: 'mesh', defaultConfig: { concurrency: 2 } },
      delimiters: ['[[', ']]'],
      nativeSidecars: 'Enabled',
      annotationOverrides: { allow: ['example.com/*'], sameName: 'Warn', sameNameFields: ['image'] },
    };
    const webhook = { pathEnvironment: { net: 'n1', cluster: 'c1' }, keys: { status: 'example.com/status' } };
    const files = configurationFiles(injectorConfig('mesh-a', { revision: '1-24', injection, webhook }));
    const { values, meshConfig, delimiters, nativeSidecars, annotationOverrides, ...istio } = injection;
    assert.deepEqual(load(files.config), istio);
    assert.deepEqual(JSON.parse(files.values), values);
    assert.deepEqual(load(files.mesh), meshConfig);
    assert.deepEqual(JSON.parse(files.settings), {
      revision: '1-24',
      delimiters,
      nativeSidecars,
      pathEnvironment: webhook.pathEnvironment,
      annotationOverrides: { preset: 'Safe', ...annotationOverrides },
      keys: {
        injection: 'istio-injection',
        revision: 'istio.io/rev',
        inject: 'sidecar.istio.io/inject',
        status: 'example.com/status',
      },
    });
  });

  it('writes settings of istiod from the values of configFrom, and nothing for their defaults', () => {
    const configFrom = { namespace: 'n', name: 'istio-sidecar-injector', key: 'config' };
    const settingsOf = (injection: object, values: object): Record<string, unknown> => {
      const texts = { config: 'templates: {}', values: JSON.stringify(values) };
      const { settings } = configurationFiles(injectorConfig('a', { injection: { configFrom, ...injection } }), texts);
      return JSON.parse(settings) as Record<string, unknown>;
    };
    const values = { global: { platform: 'openshift' }, pilot: { env: { COMPLIANCE_POLICY: 'fips-140-3' } } };
    const { platform, compliancePolicy } = settingsOf({}, values);
    assert.deepEqual([platform, compliancePolicy], ['OpenShift', 'fips-140-3']);
    const usual = { platform: 'Kubernetes', compliancePolicy: '' };
    assert.deepEqual(settingsOf(usual, values), settingsOf({}, {}));
    assert.deepEqual(
      Object.keys(settingsOf({}, {})).filter((key) => key in usual),
      [],
    );
  });

  it('writes a single template in the format of Istio 1.x', () => {
    const { config } = configurationFiles(injectorConfig('old', { injection: { template: 'containers: []' } }));
    assert.deepEqual(load(config), { policy: 'enabled', template: 'containers: []' });
  });

  it('writes an empty map if the object has no templates, which the rules refuse', () => {
    const { config } = configurationFiles(injectorConfig('a', { injection: {} }));
    assert.deepEqual(load(config), { policy: 'enabled', templates: {} });
  });

  it('keeps every byte of a template', () => {
    const parts = fc.array(
      fc.oneof(fc.string(), fc.constantFrom('  - a: b', '\ttab', '# c', "'", '{{- end }}', '---', '...', ' ')),
    );
    const text = fc.tuple(parts, fc.constantFrom('', '\n', '\n\n', ' ')).map(([lines, end]) => lines.join('\n') + end);
    fc.assert(
      fc.property(text, text, (sidecar, annotation) => {
        const injection = { templates: { sidecar }, injectedAnnotations: { a: annotation } };
        const { config } = configurationFiles(injectorConfig('a', { injection }));
        assert.deepEqual(load(config), { policy: 'enabled', ...injection });
      }),
    );
  });

  it('quotes strings that YAML 1.1, which Go reads, would not read as strings', () => {
    const words = 'y no On OFF true ~ null 1:30 0o7 012 0x1 1_000 .5 1e3 2026-01-02 << ='.split(' ');
    const entries = words.flatMap((word) => Object.entries({ [word]: 'key', [`value-${word}`]: word }));
    const annotations = Object.fromEntries(entries);
    const { config } = configurationFiles(injectorConfig('a', { injection: { injectedAnnotations: annotations } }));
    const read = parse(config, { version: '1.1' }) as { injectedAnnotations: unknown };
    assert.deepEqual(read.injectedAnnotations, annotations);
  });

  it('writes the same bytes for maps in another order', () => {
    const one = injectorConfig('a', {
      injection: { templates: { a: '1', b: '2' }, values: { x: 1, y: { p: 1, q: 2 } }, meshConfig: { m: 1, n: 2 } },
      webhook: { pathEnvironment: { cluster: 'c', net: 'n' } },
    });
    const other = injectorConfig('a', {
      webhook: { pathEnvironment: { net: 'n', cluster: 'c' } },
      injection: { meshConfig: { n: 2, m: 1 }, values: { y: { q: 2, p: 1 }, x: 1 }, templates: { b: '2', a: '1' } },
    });
    assert.deepEqual(configurationFiles(other), configurationFiles(one));
  });

  const templates = { sidecar: 'x' };
  const valuesFrom = { namespace: 'mesh', name: 'istio-values', key: 'values' };

  it('copies values from a reference', () => {
    const config = injectorConfig('a', { injection: { templates, valuesFrom } });
    assert.equal(configurationFiles(config, { values: '{"big":1e400}' }).values, '{"big":1e400}');
    assert.throws(() => configurationFiles(config, { values: '[]' }), ConfigurationError);
  });

  const configFrom = { namespace: 'istio-system', name: 'istio-sidecar-injector-1-24', key: 'config' };
  const meshConfigFrom = { namespace: 'istio-system', name: 'istio-1-24', key: 'mesh' };

  it("copies Istio's own texts unchanged", () => {
    const config = injectorConfig('a', { injection: { configFrom, meshConfigFrom, delimiters: ['[[', ']]'] } });
    const texts = { config: '# ours\ntemplates: {}\n', values: '{ "a": 1.0 }', mesh: '# mesh\ntrustDomain: x\n' };
    const { settings, ...files } = configurationFiles(config, texts);
    assert.deepEqual(files, texts);
    assert.deepEqual((JSON.parse(settings) as { delimiters: unknown }).delimiters, ['[[', ']]']);
  });

  it('prefers values of the InjectorConfig to values beside the referenced config', () => {
    const own = injectorConfig('a', { injection: { configFrom, values: {} } });
    assert.deepEqual(configurationReferences(own.spec.injection), {
      config: { field: 'spec.injection.configFrom', ...configFrom },
    });
    assert.equal(configurationFiles(own, { config: 'x' }).values, '{}');
    const other = injectorConfig('a', { injection: { configFrom, meshConfigFrom, valuesFrom } });
    assert.deepEqual(configurationReferences(other.spec.injection), {
      config: { field: 'spec.injection.configFrom', ...configFrom },
      values: { field: 'spec.injection.valuesFrom', ...valuesFrom },
      mesh: { field: 'spec.injection.meshConfigFrom', ...meshConfigFrom },
    });
  });

  const ofIstio = 'of ConfigMap istio-system/istio';
  for (const [injection, texts, message] of [
    [{ templates, valuesFrom }, {}, 'valuesFrom: key values of ConfigMap mesh/istio-values is not available'],
    [{ configFrom }, { values: '' }, `configFrom: key config ${ofIstio}-sidecar`],
    [{ configFrom }, { config: '' }, `configFrom: key values ${ofIstio}-sidecar`],
    [{ configFrom }, { config: '', values: '[]' }, 'configFrom: the text must be a JSON or YAML map'],
    [{ templates, meshConfigFrom }, {}, `meshConfigFrom: key mesh ${ofIstio}-1-24`],
  ] as const) {
    it(`refuses a missing or invalid referenced text: ${message}`, () => {
      assert.throws(
        () => configurationFiles(injectorConfig('a', { injection }), texts),
        (error) => error instanceof ConfigurationError && error.message.startsWith(`spec.injection.${message}`),
      );
    });
  }
});
