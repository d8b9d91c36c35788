import assert from 'node:assert/strict';
import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import { familyOf } from '../inject/configuration/family.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { sameImage } from './image-reference.ts';
import { inPlaceObstacles } from './in-place.ts';
import { podChanges } from './pod-changes.ts';

const family = familyOf(istioKeys, []);
const amounts = { requests: { cpu: '100m', memory: '64Mi' } };
const proxy = {
  name: 'istio-proxy',
  image: 'registry.example.com/proxy:1',
  restartPolicy: 'Always',
  resources: amounts,
};
const init = { name: 'istio-init', image: 'registry.example.com/proxy:1', resources: amounts };
const app = { name: 'app', image: 'registry.example.com/app:1', resources: {} };
const status = JSON.stringify({ initContainers: ['istio-init', 'istio-proxy'], containers: ['istio-proxy'] });
const annotations = { 'sidecar.istio.io/status': status };
const labels = { app: 'web', tlsMode: 'istio' };

/** Returns a pod with a native sidecar. */
function native(proxyFields: JsonObject = {}, initFields: JsonObject = {}, podFields: JsonObject = {}): JsonObject {
  const initContainers = [
    { ...init, ...initFields },
    { ...proxy, ...proxyFields },
  ];
  return { metadata: { annotations, labels }, spec: { initContainers, containers: [app], ...podFields } };
}

/** Returns a pod with a classic sidecar. */
function classic(proxyFields: JsonObject = {}, podFields: JsonObject = {}): JsonObject {
  const { name, image, resources } = proxy;
  const containers = [{ name, image, resources, ...proxyFields }, app];
  return { metadata: { annotations, labels }, spec: { initContainers: [init], containers, ...podFields } };
}

/** Returns a pod with other metadata. */
function withMetadata(pod: JsonObject, metadata: JsonObject): JsonObject {
  return { ...pod, metadata: { ...(pod.metadata as JsonObject), ...metadata } };
}

interface Row {
  readonly title: string;
  readonly running: JsonObject;
  readonly wanted: JsonObject;
  readonly kubelet?: string;
  readonly changedByOthers?: readonly string[];
  /** The fields of the obstacles, and a part of the first reason. */
  readonly fields?: readonly string[];
  readonly reason?: RegExp;
}

const next = { image: 'registry.example.com/proxy:2' };
const more = { resources: { requests: { cpu: '200m', memory: '64Mi' } } };
const rows: readonly Row[] = [
  { title: 'the image of a native sidecar', running: native(), wanted: native(next) },
  ...['os', 'nodeSelector'].map((field): Row => {
    const onWindows = { [field]: field === 'os' ? { name: 'windows' } : { 'kubernetes.io/os': 'windows' } };
    const [running, wanted] = [native({}, {}, onWindows), native(more, {}, onWindows)];
    const title = `resources of a pod of Windows (spec.${field})`;
    return { title, running, wanted, fields: ['spec.os'], reason: /do not resize containers on Windows/ };
  }),
  { title: 'the image of a classic sidecar', running: classic(), wanted: classic(next) },
  { title: 'the image of a finished init container', running: native(), wanted: native({}, next) },
  {
    title: 'more CPU, on a kubelet of an unknown version',
    running: native(),
    wanted: native(more, more),
    kubelet: 'unknown',
    fields: ['spec.initContainers[istio-proxy].resources'],
    reason: /version of the kubelet is not known/,
  },
  { title: 'more CPU', running: native(), wanted: native(more, more) },
  {
    title: 'a further limit',
    running: native(),
    wanted: native({ resources: { ...amounts, limits: { cpu: '1' } } }),
    fields: ['spec.initContainers[istio-proxy].resources'],
    reason: /could not remove limits\.cpu again/,
  },
  {
    title: 'annotations and labels',
    running: native(),
    wanted: withMetadata(native(), { annotations: { ...annotations, a: 'b' }, labels: { app: 'web', other: 'x' } }),
  },
  {
    title: 'a label of a Service',
    running: native(),
    wanted: withMetadata(native(), { labels: { tlsMode: 'istio' } }),
    fields: ['metadata.labels["app"]'],
    reason: /selector of a Service may/,
  },
  {
    title: 'an environment variable, beside the image',
    running: native(),
    wanted: native({ ...next, env: [{ name: 'A', value: 'b' }] }),
    fields: ['spec.initContainers[istio-proxy].env'],
    reason: /cannot change the field/,
  },
  {
    title: 'the pull policy',
    running: native({ imagePullPolicy: 'Always' }),
    wanted: native({ ...next, imagePullPolicy: 'IfNotPresent' }),
    fields: ['spec.initContainers[istio-proxy].imagePullPolicy'],
  },
  {
    title: 'a sidecar that becomes native',
    running: classic(),
    wanted: native(next),
    fields: [
      'spec.initContainers[istio-proxy]: moves from containers to initContainers',
      'spec.initContainers[istio-proxy].restartPolicy',
      'spec.initContainers[istio-proxy].image',
    ],
  },
  {
    title: 'a further container',
    running: native(),
    wanted: native({}, {}, { containers: [app, { name: 'other', image: 'a' }] }),
    fields: ['spec.containers[other]'],
  },
  {
    title: 'the image of an own container',
    running: native(),
    wanted: native({}, {}, { containers: [{ ...app, ...next }] }),
    fields: ['spec.containers[app].image'],
    reason: /did not add/,
  },
  {
    title: 'resources of an own container',
    running: native(),
    wanted: native({}, {}, { containers: [{ ...app, ...more }] }),
    fields: ['spec.containers[app].resources'],
    reason: /did not add/,
  },
  {
    title: 'a classic sidecar of a pod that is not restarted',
    running: classic({}, { restartPolicy: 'Never' }),
    wanted: classic(next, { restartPolicy: 'Never' }),
    fields: ['spec.containers[istio-proxy].image'],
    reason: /restartPolicy Never/,
  },
  {
    title: 'a native sidecar of a pod that is not restarted',
    running: native({}, {}, { restartPolicy: 'Never' }),
    wanted: native(next, {}, { restartPolicy: 'Never' }),
  },
  { title: 'a pod without a node', running: native(), wanted: native({ ...next, ...more }), kubelet: 'none' },
  ...[
    { title: 'a memory limit on a kubelet of 1.33', fields: {}, kubelet: 'v1.33.5', isPossible: false },
    { title: 'a memory limit on a kubelet of 1.34', fields: {}, kubelet: 'v1.34.0', isPossible: true },
    {
      title: 'a memory limit of a container that restarts for it',
      fields: { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] },
      kubelet: 'v1.33.5',
      isPossible: true,
    },
  ].map(({ title, fields, kubelet, isPossible }): Row => {
    const limited = (memory: string): JsonObject =>
      native({ ...fields, resources: { ...amounts, limits: { memory } } });
    const row = { title, kubelet, running: limited('96Mi'), wanted: limited('128Mi') };
    if (isPossible) return row;
    return { ...row, fields: ['spec.initContainers[istio-proxy].resources'], reason: /1\.33 does not lower/ };
  }),
  { title: 'a kubelet of 1.32', running: native(), wanted: native(next), kubelet: 'v1.32.0' },
  {
    title: 'an older kubelet',
    running: native(),
    wanted: native(next),
    kubelet: 'v1.31.14+rke2r1',
    fields: ['spec.initContainers[istio-proxy].image'],
    reason: /before 1\.32 .* 1\.31/,
  },
  { title: 'an older kubelet and a classic sidecar', running: classic(), wanted: classic(next), kubelet: 'v1.31.14' },
  {
    title: 'an unknown kubelet',
    running: native(),
    wanted: native(next),
    kubelet: 'unknown',
    fields: ['spec.initContainers[istio-proxy].image'],
    reason: /not known/,
  },
  {
    title: 'more CPU with an older kubelet',
    running: classic(),
    wanted: classic(more),
    kubelet: 'v1.32.4',
    fields: ['spec.containers[istio-proxy].resources'],
    reason: /before 1\.33 .* 1\.32/,
  },
  {
    title: 'the kubelet that skips sidecars with a startup probe',
    running: native({ startupProbe: {} }),
    wanted: native({ startupProbe: {}, ...next }),
    kubelet: 'v1.35.3',
    fields: ['spec.initContainers[istio-proxy].image'],
    reason: /startup probe/,
  },
  {
    title: 'the kubelet in which this is mended',
    running: native({ startupProbe: {} }),
    wanted: native({ startupProbe: {}, ...next }),
    kubelet: 'v1.35.4',
  },
  {
    title: 'a sidecar that a user resized',
    running: native(),
    wanted: native(more),
    changedByOthers: ['spec.initContainers[istio-proxy].resources.requests.memory'],
    fields: ['spec.initContainers[istio-proxy].resources'],
    reason: /a person changed it/,
  },
  {
    title: 'resources that the author overrides',
    running: withMetadata(native(), {
      annotations: { ...annotations, 'proxy.istio.io/overrides': '{"initContainers":[{"name":"istio-proxy"}]}' },
    }),
    wanted: withMetadata(native({ ...next, ...more }), {
      annotations: { ...annotations, 'proxy.istio.io/overrides': '{"initContainers":[{"name":"istio-proxy"}]}' },
    }),
    fields: ['spec.initContainers[istio-proxy].resources'],
    reason: /overrides/,
  },
  {
    title: 'a limit that vanishes',
    running: native({ resources: { ...amounts, limits: { cpu: '1' } } }),
    wanted: native(),
    fields: ['spec.initContainers[istio-proxy].resources'],
    reason: /cannot remove limits\.cpu/,
  },
  {
    title: 'other resources than CPU and memory',
    running: native(),
    wanted: native({ resources: { requests: { ...amounts.requests, 'ephemeral-storage': '1Gi' } } }),
    fields: ['spec.initContainers[istio-proxy].resources'],
    reason: /only CPU and memory/,
  },
  {
    title: 'another class of service',
    running: native({ resources: {} }, { resources: {} }),
    wanted: native({}, { resources: {} }),
    fields: ['spec.initContainers[istio-proxy].resources', 'status.qosClass'],
    reason: /could not remove requests\.\w+ again/,
  },
  {
    title: 'no longer guaranteed',
    running: { ...guaranteed('100m', '100m') },
    wanted: guaranteed('100m', '200m'),
    fields: ['status.qosClass'],
    reason: /from Guaranteed to Burstable/,
  },
  { title: 'still guaranteed', running: guaranteed('100m', '100m'), wanted: guaranteed('200m', '200m') },
  {
    title: 'a pod with resources of its own',
    running: native({}, {}, { resources: amounts }),
    wanted: native(more, {}, { resources: amounts }),
    fields: ['spec.resources'],
  },
  {
    title: 'a static pod',
    running: withMetadata(native(), { annotations: { ...annotations, 'kubernetes.io/config.mirror': 'x' } }),
    wanted: native(next),
    fields: ['metadata.annotations["kubernetes.io/config.mirror"]'],
  },
  {
    title: 'an unreadable record of the injection',
    running: withMetadata(native(), { annotations: { 'sidecar.istio.io/status': '[' } }),
    wanted: native(next),
    fields: ['spec.initContainers[istio-proxy].image'],
    reason: /did not add/,
  },
  {
    title: 'the same image in other words',
    running: native({ image: 'proxy' }),
    wanted: native({ image: 'docker.io/library/proxy:latest' }),
    kubelet: 'v1.20.0',
  },
];

/** Returns a pod whose containers have limits. */
function guaranteed(request: string, limit: string): JsonObject {
  const resources = { requests: { cpu: request, memory: '64Mi' }, limits: { cpu: limit, memory: '64Mi' } };
  const own = { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } };
  return {
    metadata: { annotations, labels },
    spec: { initContainers: [{ ...proxy, resources }], containers: [{ ...app, resources: own }] },
  };
}

describe('inPlaceObstacles', () => {
  for (const { title, running, wanted, kubelet = 'v1.36.3', changedByOthers = [], fields = [], reason } of rows)
    it(`says for ${title} ${fields.length === 0 ? 'that nothing' : 'what'} stands in the way`, () => {
      const isSelected = (label: string): boolean => label === 'app';
      const situation = { kubeletVersion: kubelet, isScheduled: kubelet !== 'none', family, isSelected };
      const found = inPlaceObstacles(running, wanted, podChanges(running, wanted), changedByOthers, situation);
      assert.deepEqual(
        found.map(({ field }) => field),
        fields,
      );
      if (reason !== undefined) assert.match(found[0]?.reason ?? '', reason);
    });
});

describe('sameImage', () => {
  const pairs: [one: string, other: string, isSame: boolean][] = [
    ['nginx', 'docker.io/library/nginx:latest', true],
    ['index.docker.io/istio/proxyv2:1', 'istio/proxyv2:1', true],
    ['localhost/a', 'a', false],
    ['localhost:5000/a:1', 'localhost:5000/a:1', true],
    ['registry.example.com/a', 'registry.example.com/a:latest', true],
    ['registry.example.com/a', 'registry.example.com/library/a', false],
    ['a@sha256:00', 'a:latest', false],
    ['a:1', 'a:2', false],
  ];
  for (const [one, other, isSame] of pairs)
    it(`says that ${one} and ${other} are ${isSame ? 'the same' : 'different'}`, () => {
      assert.equal(sameImage(one, other), isSame);
      assert.equal(sameImage(other, one), isSame);
    });
});
