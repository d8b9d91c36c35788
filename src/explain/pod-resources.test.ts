import assert from 'node:assert/strict';
import { addResources, noResources, podResources } from './pod-resources.ts';

const with_ = (cpu: string, memory?: string, more: object = {}): object => ({
  resources: { requests: { cpu, ...(memory !== undefined && { memory }) } },
  ...more,
});

const rows: [title: string, spec: object, cpu: number, memory: number][] = [
  ['no containers', {}, 0, 0],
  ['containers together', { containers: [with_('100m', '1Gi'), with_('1.5', '128M')] }, 1.6, 2 ** 30 + 128e6],
  ['the largest init container', { initContainers: [with_('2'), with_('3')], containers: [with_('1')] }, 3, 0],
  [
    'native sidecars with containers, and with the init containers after them',
    {
      initContainers: [with_('5'), with_('1', '1Ki', { restartPolicy: 'Always' }), with_('4.5')],
      containers: [with_('1', '1')],
    },
    5.5,
    1025,
  ],
  ['the resources of the pod instead', { ...with_('7'), containers: [with_('1', '1')] }, 7, 1],
  ['the overhead', { containers: [with_('1')], overhead: { cpu: '250m', memory: '1e3' } }, 1.25, 1000],
  ['invalid amounts as zero', { containers: [with_('much', '')], initContainers: 'none' }, 0, 0],
];

describe('podResources', () => {
  for (const [title, spec, cpu, memory] of rows) {
    it(`counts ${title}`, () => {
      const { requests } = podResources({ spec });
      assert.deepEqual(addResources(noResources, { requests, limits: requests }).requests, { cpu, memory });
    });
  }

  it('counts limits, without overhead for a resource that has none', () => {
    const spec = { containers: [{ resources: { limits: { cpu: 2 } } }], overhead: { cpu: '1', memory: '1Mi' } };
    assert.deepEqual(podResources({ spec }).limits, { cpu: 3, memory: 0 });
  });

  it('adds without the noise of binary fractions', () => {
    const tenth = podResources({ spec: { containers: [with_('100m')] } });
    assert.deepEqual(addResources(tenth, tenth, 2).requests, { cpu: 0.3, memory: 0 });
  });
});
