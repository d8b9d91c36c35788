import assert from 'node:assert/strict';
import { injectedByAnnotation } from '../api/names.ts';
import { inject } from '../inject/inject.ts';
import { loadInjector } from '../inject/injector.ts';
import { admissionPod, withServerDefaults } from '../inject/kubernetes/admission-pod.ts';
import { compareWithOurs, otherInjectorStatus } from './other-injector.ts';
import type { NamedInjector } from './predict-pod.ts';

const statusKey = 'sidecar.istio.io/status';
const volumes = ', volumes: [{name: data, emptyDir: {}}]';
const template = (image: string, more = ''): string => `spec: {containers: [{name: proxy, image: ${image}}]${more}}\n`;

function injectorWith(sidecar: string, fields: object = {}): NamedInjector {
  const config = JSON.stringify({
    policy: 'enabled',
    defaultTemplates: ['sidecar'],
    templates: { sidecar },
    ...fields,
  });
  const settings = JSON.stringify({ revision: 'ours' });
  return { name: 'default', hash: '00000000', injector: loadInjector({ config, values: '{}', mesh: '', settings }) };
}

/** Returns a stored pod that another injector made with a template. */
function podOf(sidecar: string) {
  const made = {
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'web' }] },
  };
  const result = inject(injectorWith(sidecar).injector, { pod: admissionPod(made, 'shop'), namespace: 'shop' });
  assert.equal(result.outcome, 'injected');
  const pod = withServerDefaults(result.pod) as { metadata: { annotations: Record<string, string> } };
  const { [statusKey]: status = '' } = pod.metadata.annotations;
  const annotations = { ...pod.metadata.annotations, [statusKey]: status.replace('"ours"', '"theirs"') };
  const metadata = { ...pod.metadata, uid: '1', annotations };
  return { ...pod, apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Running' } };
}

function compare(sidecar: string, ours: Parameters<typeof compareWithOurs>[2]) {
  const stored = podOf(sidecar);
  const status = otherInjectorStatus(stored, statusKey) ?? '';
  const request = { namespace: 'shop', path: '/inject' };
  return compareWithOurs(stored, status, ours, { request, containerDefaults: { requests: {}, limits: {} } });
}

describe('compareWithOurs', () => {
  const invalid = 'spec: {containers: [{name: proxy, image: a, ports: [{containerPort: 0}]}]}\n';
  const rows: [
    what: string,
    sidecar: string,
    ours: Parameters<typeof compareWithOurs>[2],
    result: string,
    why: RegExp,
  ][] = [
    ['the same template', template('a'), injectorWith(template('a')), 'Identical', /^$/],
    [
      'another image',
      template('a'),
      injectorWith(template('b')),
      'Different',
      /^a new pod differs in spec\.containers\[proxy\]\.image$/,
    ],
    [
      'a volume that only the other adds',
      template('a', volumes),
      injectorWith(template('a')),
      'Different',
      /istio\.io\/status/,
    ],
    [
      'a volume that only ours adds',
      template('a'),
      injectorWith(template('a', volumes)),
      'Different',
      /spec\.volumes\[data\]/,
    ],
    [
      'a disabled policy',
      template('a'),
      injectorWith(template('a'), { policy: 'disabled' }),
      'Different',
      /would not be injected/,
    ],
    [
      'an invalid template',
      template('a'),
      injectorWith(invalid),
      'Different',
      /^a new pod would be refused: .*containerPort/,
    ],
    ['a lost configuration', template('a'), { unavailable: 'it is lost' }, 'NotCompared', /^it is lost$/],
  ];
  for (const [what, sidecar, ours, result, why] of rows) {
    it(`returns ${result} for ${what}`, () => {
      const found = compare(sidecar, ours);
      assert.deepEqual([found.revision, found.result], ['theirs', result], found.why);
      assert.match(found.why, why);
    });
  }

  it('names at most three fields', () => {
    const env = (value: string): string =>
      `spec: {containers: [{name: proxy, image: a, env: [${['A', 'B', 'C', 'D', 'E'].map((name) => `{name: ${name}, value: ${value}}`).join()}]}]}\n`;
    assert.match(compare(env('one'), injectorWith(env('two'))).why, /env\[A\].*env\[B\].*env\[C\]\.value and 2 more$/);
  });
});

describe('otherInjectorStatus', () => {
  it('is undefined for a pod that records one of our configurations, and for a pod without a sidecar', () => {
    const pod = podOf(template('a'));
    const annotations = { ...pod.metadata.annotations, [injectedByAnnotation]: 'default.00000000' };
    assert.equal(otherInjectorStatus({ ...pod, metadata: { ...pod.metadata, annotations } }, statusKey), undefined);
    assert.equal(otherInjectorStatus({ ...pod, metadata: {} }, statusKey), undefined);
  });
});
