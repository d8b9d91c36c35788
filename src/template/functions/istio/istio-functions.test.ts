import assert from 'node:assert/strict';
import { anyMapType, int64Type, pointerTo, sliceOf, stringMapType, type StructType } from '../../go-type.ts';
import { sprigFunctions } from '../sprig/sprig-functions.ts';
import { compileTemplate } from '../../template.ts';
import { typed } from '../../typed-value.ts';
import { istioFunctions } from './istio-functions.ts';

function named(name: string, extra: Partial<StructType> = {}): StructType {
  return { kind: 'struct', name, fields: [], ...extra };
}

const meta = named('v1.ObjectMeta', {
  fields: [
    { name: 'Annotations', json: 'annotations', type: stringMapType },
    { name: 'Labels', json: 'labels', type: stringMapType },
  ],
});
const duration = named('durationpb.Duration', {
  fields: [{ name: 'Seconds', json: 'seconds', type: int64Type }],
  decode: (raw) => ({ '95s': { seconds: 95 }, '1e10s': { seconds: 1e10 } })[raw as string] ?? { nanos: 1500000 },
});
const mesh = named('v1alpha1.MeshConfig', { protoToJson: (raw) => `mesh ${JSON.stringify(raw)}` });
const dataType = named('test.Data', {
  fields: [
    { name: 'Meta', json: 'meta', type: meta },
    { name: 'Containers', json: 'containers', type: sliceOf(named('v1.Container')) },
    { name: 'Drain', json: 'drain', type: pointerTo(duration) },
    { name: 'Wait', json: 'wait', type: pointerTo(duration) },
    { name: 'Short', json: 'short', type: pointerTo(duration) },
    { name: 'Long', json: 'long', type: pointerTo(duration) },
    { name: 'Mesh', json: 'mesh', type: pointerTo(mesh) },
    { name: 'NoMesh', json: 'noMesh', type: pointerTo(mesh) },
    { name: 'Values', json: 'values', type: anyMapType },
  ],
});

const conventions = {
  extensionProviders: [{ name: 'o', opentelemetry: { serviceAttributeEnrichment: 'OTEL_SEMANTIC_CONVENTIONS' } }],
};
const base = {
  meta: { annotations: { a: 'one', empty: '', null: null }, labels: { app: 'web' } },
  containers: [
    {
      name: 'app',
      image: 'registry:5000/shop/app:1.2@sha256:ab',
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }, { containerPort: 90, protocol: 'SCTP' }],
    },
    { name: 'istio-proxy', ports: [{ containerPort: 15090, protocol: 'TCP' }, {}] },
    { name: 'other' },
  ],
  drain: '95s',
  long: '1e10s',
  short: '0.0015s',
  mesh: conventions,
  values: { a: null, b: { c: null, d: [null, 1, { e: null }] }, f: 'x' },
};

function render(template: string, change: Readonly<Record<string, unknown>> = {}): string {
  const functions = { ...sprigFunctions, ...istioFunctions };
  const data = typed(pointerTo(dataType), { ...base, ...change });
  return compileTemplate(template, { name: 't', functions }).execute(data);
}

describe('Istio’s functions', () => {
  const results: readonly (readonly [string, string])[] = [
    [
      '{{ annotation .Meta "a" 1 }} {{ annotation .Meta "b" 1 }} {{ annotation .Meta "b" nil }} {{ annotation .Meta "empty" 1 }}|',
      'one 1 <nil> |',
    ],
    ['{{ includeInboundPorts .Containers }} {{ applicationPorts .Containers }}', '80,15090,0 80'],
    ['{{ formatDuration .Drain }} {{ formatDuration .Wait }} {{ formatDuration .Short }}', '1m35s 0s 1.5ms'],
    ['{{ protoToJSON .NoMesh }} {{ protoToJSON nil }}', '{} {}'],
    ['{{ env "PATH" "d" }}', 'd'],
    [
      '{{ toJson (omitNil .Values) }} {{ toJson (omitNil (dict "a" nil)) }} {{ omitNil nil }} {{ toJson (omitNil (list nil)) }}',
      '{"b":{"d":[1]},"f":"x"} null <no value> null',
    ],
    ['{{ toJson (omitNil (list (list) (dict) nil)) }} {{ omitNil (dict) }} {{ omitNil (list) }}', '[[],{}] map[] []'],
    ['{{ toJsonMap }} {{ mergeMaps | toJson }} {{ mergeMaps | toJSON }} {{ toJsonMap nil }}', 'null null {} {}'],
    ['{{ excludeInboundPort "\\u0085 80" "\\ufeff1" }} {{ annotation .Meta "null" 1 }}|', '\ufeff1,80 |'],
    ['{{ formatDuration .Long }}', '2562047h47m16.854775807s'],
    [
      '{{ excludeInboundPort 80 "1, 2 ,,3" }} {{ excludeInboundPort "80" "80,1" }} {{ excludeInboundPort 0 "1" }} {{ excludeInboundPort " " "1" }}',
      '1,2,3,80 80,1 1 1',
    ],
    [
      '{{ kubevirtInterfaces "a" }}{{ excludeInterfaces "b" }}{{ contains "b" "abc" }}{{ directory "/a/b" }}',
      'abtrue/a/',
    ],
    [
      '{{ isset .Meta.Annotations "a" }} {{ isset .Meta.Annotations "zz" }} {{ omit .Meta.Annotations "a" }}',
      'true false map[empty: null:]',
    ],
    [
      '{{ appendMultusNetwork "" "ns/n" }} {{ appendMultusNetwork "a, n" "n" }} {{ appendMultusNetwork "a" "n" }}',
      'ns/n a, n a, n',
    ],
    ['{{ appendMultusNetwork `[{"name":"x"}]` "n" }}', '[{"name":"x"}, {"name": "n"}]'],
    ['{{ appendMultusNetwork `[{"name":"n"}]` "ns/n" }}', '[{"name":"n"}, {"name": "n", "namespace": "ns"}]'],
    ['{{ appendMultusNetwork `[{"name":"n","namespace":"ns"}]` "ns/n" }}', '[{"name":"n","namespace":"ns"}]'],
    [
      '{{ appendMultusNetwork `[{"name":"n"}]` "n" }} {{ appendMultusNetwork `[broken]` "n" }} {{ appendMultusNetwork `["a"]` "n" }}',
      '[{"name":"n"}] [broken] ["a"]',
    ],
    [
      '{{ appendMultusNetwork `[null, {"name":"n","namespace":"o"}]` "n" }}',
      '[null, {"name":"n","namespace":"o"}, {"name": "n"}]',
    ],
  ];
  for (const [template, expected] of results) {
    it(`return the results of Istio: ${template}`, () => {
      assert.equal(render(template), expected);
    });
  }

  it('encode messages with the hook of their type', () => {
    assert.equal(render('{{ protoToJSON .Mesh }}', { mesh: { a: 1 } }), 'mesh {"a":1}');
    const reason = /^wrong type for value; expected protoreflect.ProtoMessage; got /;
    for (const value of ['.Values', '.Meta']) assert.throws(() => render(`{{ protoToJSON ${value} }}`), { reason });
    const noText = 'can\'t handle "a" for arg of type protoreflect.ProtoMessage';
    assert.throws(() => render('{{ protoToJSON "a" }}'), { reason: noText });
    assert.throws(() => render('{{ protoToJSON .Nope }}'), { reason: /can't evaluate field Nope/ });
  });

  it('cannot access environment variables, hosts or files', () => {
    assert.equal(render('{{ env "PATH" "none" }}'), 'none');
    for (const call of ['expandenv "$PATH"', 'getHostByName "localhost"', 'readFile "/etc/hostname"'])
      assert.throws(() => render(`{{ ${call} }}`), /function "\w+" not defined/);
  });

  it('stop excessive indentation at a limit', () => {
    assert.throws(() => render('{{ indent 200000000 "a\\nb" }}'), { kind: 'limit' });
  });

  const attributes = '{{ otelResourceAttributes .Mesh .Meta.Annotations .Meta.Labels "ns" .Containers }}';
  const unversioned = 'service.namespace=ns,service.instance.id=ns.$(POD_NAME).c';
  const prefix = 'resource.opentelemetry.io/service';
  const annotations = { [`${prefix}.version`]: 'v', [`${prefix}.namespace`]: 'm' };
  const resources: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
    ['nothing if there is no provider', { mesh: {} }, ''],
    ['nothing for providers of other kinds', { mesh: { extensionProviders: [{}] } }, ''],
    ['the namespace and the first container', {}, 'service.namespace=ns,service.instance.id=ns.$(POD_NAME).app'],
    ['only the namespace if there is no container', { containers: [] }, 'service.namespace=ns'],
    [
      'the version of the only container’s image',
      { containers: base.containers.slice(0, 1) },
      'service.namespace=ns,service.version=1.2@sha256:ab,service.instance.id=ns.$(POD_NAME).app',
    ],
    ['no version for an image without a tag', { containers: [{ name: 'c', image: 'r:5000/c' }] }, unversioned],
    ['no version if there is no image', { containers: [{ name: 'c' }] }, unversioned],
    [
      'the last tag, a digest with slashes, and an empty name',
      { containers: [{ image: 'a:b:1@x/y' }] },
      'service.namespace=ns,service.version=1@x/y,service.instance.id=ns.$(POD_NAME).',
    ],
    [
      'the version from the label instead of the image',
      { meta: { labels: { 'app.kubernetes.io/version': '7' } }, containers: base.containers.slice(0, 1) },
      'service.namespace=ns,service.version=7,service.instance.id=ns.$(POD_NAME).app',
    ],
    ['annotations take precedence', { meta: { annotations }, containers: [] }, 'service.namespace=m,service.version=v'],
  ];
  for (const [title, change, expected] of resources) {
    it(`describe a workload to OpenTelemetry: ${title}`, () => {
      assert.equal(render(attributes, change), expected);
    });
  }

  it('leave the namespace of an instance empty if the namespace is unknown', () => {
    const nowhere = '{{ otelResourceAttributes .Mesh .Meta.Annotations .Meta.Labels "" .Containers }}';
    assert.equal(render(nowhere), 'service.instance.id=.$(POD_NAME).app');
  });
});
