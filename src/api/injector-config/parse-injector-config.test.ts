import assert from 'node:assert/strict';
import { ConfigurationError } from '../errors.ts';
import { parseInjectorConfig } from './parse-injector-config.ts';
import { badInjectorConfigs } from '../testdata/bad-injector-configs.ts';

const object = (fields: object): object => ({
  apiVersion: 'sidecar-injector.io/v1alpha1',
  kind: 'InjectorConfig',
  metadata: { name: 'hello' },
  spec: {},
  ...fields,
});

/** Returns the error of a parse that must fail. */
function refusal(value: unknown, options?: Parameters<typeof parseInjectorConfig>[1]): ConfigurationError {
  try {
    parseInjectorConfig(value, options);
  } catch (error) {
    assert(error instanceof ConfigurationError);
    return error;
  }
  assert.fail('the value was accepted');
}

describe('parseInjectorConfig', () => {
  it('sets all defaults', () => {
    assert.deepEqual(parseInjectorConfig(object({})).spec, {
      paused: false,
      operatorClass: 'default',
      injection: {
        enableNamespacesByDefault: false,
        delimiters: ['{{', '}}'],
        aliases: {},
        injectedAnnotations: {},
        alwaysInjectSelector: [],
        neverInjectSelector: [],
        podResources: 'Keep',
      },
      webhook: {
        failurePolicy: 'Fail',
        fallback: 'Fail',
        reinvocationPolicy: 'Never',
        matchPolicy: 'Equivalent',
        matchConditions: [],
        excludedNamespaces: [],
        selection: 'Revision',
        takeover: false,
        toleratedManagers: ['admissionsenforcer'],
        pathEnvironment: {},
        keys: {
          injection: 'istio-injection',
          revision: 'istio.io/rev',
          inject: 'sidecar.istio.io/inject',
          status: 'sidecar.istio.io/status',
        },
      },
      certificate: {
        provider: 'SelfSigned',
        leafDuration: '168h',
        caDuration: '8760h',
        renewalFraction: 0.667,
        confirmationPeriod: '60s',
        keySize: 2048,
      },
    });
  });

  it('sets the defaults of a partly filled object', () => {
    const { webhook } = parseInjectorConfig(
      object({ spec: { webhook: { keys: { inject: 'example.com/inject' } } } }),
    ).spec;
    assert.equal(webhook.keys.inject, 'example.com/inject');
    assert.equal(webhook.keys.revision, 'istio.io/rev');
    assert.equal(webhook.matchPolicy, 'Equivalent');
  });

  it('keeps metadata and arbitrary JSON in values', () => {
    const values = { global: { hub: 'example', list: [1, null, { a: true }] } };
    const parsed = parseInjectorConfig(
      object({ metadata: { name: 'hello', uid: 'u-1', labels: { a: 'b' } }, spec: { injection: { values } } }),
    );
    assert.deepEqual(parsed.metadata, { name: 'hello', uid: 'u-1', labels: { a: 'b' } });
    assert.deepEqual(parsed.spec.injection.values, values);
  });

  it('does not change an object that has its defaults', () => {
    const parsed = parseInjectorConfig(
      object({ spec: { injection: { template: 'x' }, webhook: { selection: 'Custom', objectSelector: {} } } }),
    );
    assert.deepEqual(parseInjectorConfig(structuredClone(parsed)), parsed);
  });

  it('parses a valid status, and drops an invalid status', () => {
    const status = { observedGeneration: 3, revision: 'hello', config: { hash: '0123abcd' } };
    assert.deepEqual(parseInjectorConfig(object({ status })).status, status);
    assert.equal(parseInjectorConfig(object({ status: { observedGeneration: 'three' } })).status, undefined);
    assert.equal(parseInjectorConfig(object({})).status, undefined);
  });

  for (const { title, name, spec, field, refusedBy, message } of badInjectorConfigs) {
    if (refusedBy !== 'schema') continue;
    it(`refuses ${title}`, () => {
      const error = refusal(object({ metadata: { name: name ?? 'candidate' }, spec }));
      assert.equal(error.field, field);
      assert.ok(error.message.startsWith(`InjectorConfig ${name ?? 'candidate'}: ${field}: `), error.message);
      assert.match(error.message, message);
    });
  }

  it('names every mistake and the value found', () => {
    const error = refusal(
      object({ spec: { operatorClass: 7, webhook: { timeoutSeconds: 99, failurePolicy: 'x'.repeat(200) } } }),
    );
    assert.equal(error.field, 'spec.operatorClass');
    assert.match(error.message, /spec\.operatorClass: invalid input: expected string, received number \(found 7\);/);
    assert.match(error.message, /spec\.webhook\.timeoutSeconds: .*30 \(found 99\)/);
    assert.match(error.message, /\(found "x{76}…\)/);
  });

  it('refuses objects that are not InjectorConfigs', () => {
    for (const [value, field, message] of [
      [undefined, 'the document', /must be an object, found nothing/],
      [['a'], 'the document', /must be an object, found \["a"\]/],
      [{ apiVersion: 'v1', kind: 'Pod' }, 'kind', /expected apiVersion .* found "v1" and "Pod"/],
      [{ ...object({}), kind: 'RevisionTag' }, 'kind', /found .* and "RevisionTag"/],
      [object({ metadata: undefined }), 'metadata', /must be an object/],
      [object({ metadata: {} }), 'metadata.name', /must be a name, found nothing/],
      [object({ metadata: { name: '' } }), 'metadata.name', /must be a name, found ""/],
      [object({ spec: undefined }), 'spec', /expected object/],
      [object({ spec: null }), 'spec', /found null/],
    ] as const) {
      const error = refusal(value);
      assert.equal(error.field, field);
      assert.match(error.message, message);
    }
  });

  it('drops unknown fields from an object, and refuses unknown fields in a file', () => {
    const unknownFields = 'refuse';
    const webhook = { matchConditions: [{ name: 'a', expression: 'true', x: 1 }] };
    const source = object({ spec: { injection: { polcy: 'disabled' }, webhook } });
    assert.equal('polcy' in parseInjectorConfig(source).spec.injection, false);
    const error = refusal(source, { unknownFields });
    assert.equal(error.field, 'spec.injection.polcy');
    assert.match(error.message, /unknown field/);
    assert.equal(refusal(object({ spec: { webhook } }), { unknownFields }).field, 'spec.webhook.matchConditions[0].x');
    const free = object({ spec: { injection: { values: { any: [1] } } } });
    assert.doesNotThrow(() => parseInjectorConfig(free, { unknownFields }));
  });
});
