import assert from 'node:assert/strict';
import { environmentOf, istiodOf } from './istiod-deployment.ts';

const metadata = { name: 'istiod', namespace: 'istio-system' };
/** Returns a Deployment of istiod with these fields of its container. */
const istiod = (container: object, labels: Record<string, string> = {}, availableReplicas = 1) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...metadata, labels: { app: 'istiod', ...labels } },
  spec: { template: { spec: { containers: [{ name: 'discovery', ...container }] } } },
  status: { availableReplicas },
});

describe('environmentOf', () => {
  const modes: [image: string, version: string | undefined, mode: string][] = [
    ['registry:5000/pilot:1.26.3-distroless', '1.26', 'Disabled'],
    ['registry:5000/pilot:1.27', '1.27', 'Auto'],
    ['pilot:v2.0.1', '2.0', 'Auto'],
    ['registry:5000/pilot', undefined, 'Auto'],
    ['pilot:latest@sha256:1', undefined, 'Auto'],
  ];
  for (const [image, version, mode] of modes)
    it(`takes ${mode} for native sidecars of ${image}`, () => {
      const { settings, ...found } = environmentOf(istiod({ image }));
      assert.deepEqual([found.version, settings.nativeSidecars, found.problems], [version, mode, []]);
    });

  it('takes the version from a label if the image has none and the chart is of a release', () => {
    const versionBy = (label: string) =>
      environmentOf(istiod({ image: 'pilot' }, { 'app.kubernetes.io/version': label })).version;
    assert.deepEqual([versionBy('1.25.1'), versionBy('1.0.0')], ['1.25', undefined]);
  });

  it('takes the last value of a variable, and ignores others', () => {
    const env = [
      { name: 'PLATFORM', value: 'x' },
      { name: 'PLATFORM', value: 'openshift' },
      { name: 'COMPLIANCE_POLICY' },
      { name: 'ENABLE_NATIVE_SIDECARS', value: 'false' },
      { name: 'OTHER', valueFrom: {} },
    ];
    const { settings, given, problems } = environmentOf(istiod({ env }));
    assert.deepEqual(settings, { platform: 'OpenShift', compliancePolicy: '', nativeSidecars: 'Disabled' });
    assert.deepEqual([[...given.keys()].length, problems], [3, []]);
  });

  it('names what prevents a plan, with what to do', () => {
    const env = [
      { name: 'PLATFORM', valueFrom: {} },
      { name: 'SHARED_MESH_CONFIG', value: 'shared' },
    ];
    const { problems } = environmentOf(istiod({ env, envFrom: [{}] }, {}, 0));
    const words = ['no available replica; repair', 'envFrom', 'valueFrom; write', 'SHARED_MESH_CONFIG'];
    assert.equal(problems.length, words.length);
    for (const [index, word] of words.entries()) assert.ok(problems[index]?.includes(word), problems[index]);
    assert.equal(environmentOf({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} }).problems.length, 1);
  });
});

describe('istiodOf', () => {
  it('finds the Deployment of a revision', () => {
    const [usual, canary] = [istiod({}), istiod({}, { 'istio.io/rev': '1-27' })];
    const other = { ...usual, metadata: { name: 'other' } };
    for (const [revision, expected] of [
      ['default', usual],
      ['1-27', canary],
      ['1-28', undefined],
    ] as const)
      assert.equal(istiodOf([other, usual, canary], revision), expected);
  });
});
