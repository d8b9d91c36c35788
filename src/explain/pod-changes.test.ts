import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { changedPaths, mergeChanges, podChanges } from './pod-changes.ts';

const web = { name: 'web', image: 'web:1' };
const proxy = { name: 'istio-proxy', image: 'proxy:1' };

function pod(spec: object, metadata: object = {}): JsonObject {
  return { metadata, spec: { containers: [web], ...spec } };
}

const rows: [title: string, before: JsonObject, after: JsonObject, changes: string[]][] = [
  ['equal pods', pod({}), pod({}), []],
  ['an image', pod({}), pod({ containers: [{ ...web, image: 'web:2' }] }), ['image spec.containers[web].image']],
  [
    'a container that is added, and its place',
    pod({}),
    pod({ containers: [proxy, web] }),
    ['containers spec.containers[istio-proxy]'],
  ],
  [
    'a container that becomes a native sidecar',
    pod({ containers: [web, proxy] }),
    pod({ initContainers: [{ ...proxy, restartPolicy: 'Always' }] }),
    [
      'containers spec.initContainers[istio-proxy]: moves from containers to initContainers',
      'containers spec.initContainers[istio-proxy].restartPolicy',
    ],
  ],
  [
    'a native sidecar in its list',
    pod({ initContainers: [proxy, { ...web, name: 'old' }] }),
    pod({ initContainers: [{ ...proxy, image: 'proxy:2' }] }),
    ['containers spec.initContainers[old]', 'image spec.initContainers[istio-proxy].image'],
  ],
  [
    'the order of containers',
    pod({ containers: [web, proxy] }),
    pod({ containers: [proxy, web] }),
    ['containers spec.containers: order'],
  ],
  [
    'environment variables by name, in any order',
    pod({ containers: [{ ...web, env: [{ name: 'A', value: '1' }, { name: 'B' }] }] }),
    pod({ containers: [{ ...web, env: [{ name: 'B' }, { name: 'C' }, { name: 'A', value: '2' }] }] }),
    ['environment spec.containers[web].env[A].value', 'environment spec.containers[web].env[C]'],
  ],
  [
    'ports by number and protocol',
    pod({ containers: [{ ...web, ports: [{ containerPort: 53, protocol: 'TCP' }] }] }),
    pod({
      containers: [
        {
          ...web,
          ports: [
            { containerPort: 53, protocol: 'TCP' },
            { containerPort: 53, protocol: 'UDP' },
          ],
        },
      ],
    }),
    ['ports spec.containers[web].ports[53/UDP]'],
  ],
  [
    'capabilities and privileges of container and pod',
    pod({}),
    pod({ containers: [{ ...web, securityContext: { privileged: true } }], hostNetwork: true }),
    [
      'capabilities and privileges spec.containers[web].securityContext',
      'capabilities and privileges spec.hostNetwork',
    ],
  ],
  [
    'resources, probes, volumes',
    pod({}),
    pod({ volumes: [{ name: 'v' }], containers: [{ ...web, resources: {}, livenessProbe: {}, volumeMounts: [] }] }),
    [
      'resources spec.containers[web].resources',
      'volumes spec.containers[web].volumeMounts',
      'volumes spec.volumes',
      'probes spec.containers[web].livenessProbe',
    ],
  ],
  [
    'labels, annotations and others',
    pod({}, { labels: { a: '1' }, annotations: { 'x/y': '1' } }),
    pod({ dnsConfig: {} }, { labels: { a: '2' }, annotations: {} }),
    ['labels metadata.labels["a"]', 'annotations metadata.annotations["x/y"]', 'other spec.dnsConfig'],
  ],
  [
    'a list with equal keys as one value',
    pod({ containers: [{ ...web, env: [{ name: 'A' }] }] }),
    pod({ containers: [{ ...web, env: [{ name: 'A' }, { name: 'A' }] }] }),
    ['environment spec.containers[web].env'],
  ],
];

describe('podChanges', () => {
  for (const [title, before, after, changes] of rows) {
    it(`finds ${title}`, () => {
      assert.deepEqual(
        podChanges(before, after).map(({ kind, path }) => `${kind} ${path}`),
        changes,
      );
      assert.deepEqual(podChanges(after, before).length, changes.length);
    });
  }

  it('returns values without its own marks, and leaves out ignored paths', () => {
    const [change] = podChanges(pod({}), pod({ containers: [web, proxy] }));
    assert.deepEqual(change, { kind: 'containers', path: 'spec.containers[istio-proxy]', after: proxy });
    assert.deepEqual(
      podChanges(pod({}), pod({ containers: [] }), (path) => path.startsWith('spec.containers')),
      [],
    );
  });

  it('accepts pods without any of the expected types', () => {
    for (const odd of [{}, { spec: null }, { spec: { containers: 1, initContainers: [null, 1] }, metadata: [] }])
      assert.ok(podChanges(odd, pod({})).length > 0);
  });
});

const name = fc.constantFrom('a', 'b', 'c', 'istio-proxy');
const text = fc.constantFrom('0', '1', '2');
const items = fc.uniqueArray(fc.record({ name, value: text }), { selector: (item) => item.name });
const container = fc.record({ name, image: text, env: items }, { requiredKeys: ['name'] });
const pods = fc
  .record({
    labels: fc.dictionary(name, text),
    all: fc.uniqueArray(container, { selector: (each) => each.name, minLength: 1 }),
    first: fc.nat(3),
    dnsPolicy: text,
  })
  .map(({ labels, all, first, dnsPolicy }): JsonObject => {
    const initContainers = all.slice(0, Math.min(first, all.length - 1));
    const containers = all.slice(initContainers.length);
    return {
      metadata: { labels },
      spec: { dnsPolicy, ...(initContainers.length > 0 && { initContainers }), containers },
    };
  });

describe('mergeChanges', () => {
  it('keeps the target if nothing changed, and the changes if the target equals the base', () => {
    fc.assert(
      fc.property(pods, pods, (base, other) => {
        assert.deepEqual(podChanges(mergeChanges(base, base, other), other), []);
        assert.deepEqual(changedPaths(mergeChanges(base, other, base), other), []);
      }),
    );
  });

  it('adds to the target what others changed beside it; the target wins', () => {
    const base = pod({ containers: [web, { ...proxy, env: [{ name: 'A', value: '1' }] }] });
    const changed = pod(
      { containers: [web, { ...proxy, image: 'mirror/proxy:1', env: [{ name: 'A', value: '1' }, { name: 'B' }] }] },
      { labels: { team: 'x' } },
    );
    const sidecar = { ...proxy, image: 'proxy:2', restartPolicy: 'Always', env: [{ name: 'A', value: '2' }] };
    assert.deepEqual(mergeChanges(base, changed, pod({ initContainers: [sidecar] })), {
      metadata: { labels: { team: 'x' } },
      spec: {
        initContainers: [{ ...sidecar, env: [{ name: 'A', value: '2' }, { name: 'B' }] }],
        containers: [web],
      },
    });
  });

  it('leaves out what the target removed', () => {
    const base = pod({ containers: [web, proxy] });
    const changed = pod({ containers: [web, { ...proxy, image: 'other' }] });
    assert.deepEqual(mergeChanges(base, changed, pod({})), pod({}));
  });
});
