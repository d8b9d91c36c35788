import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { injectedByAnnotation } from '../api/names.ts';
import { updateAnnotation } from '../api/revision-tag/update-annotation.ts';
import { loadInjector } from '../inject/injector.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { containerDefaults } from './pod-resources.ts';
import type { UpdateProgress } from './pod-resize.ts';
import { judgeUpdate, updatePatch, updateProgress } from './pod-update.ts';
import { type NamedInjector, predictPod } from './predict-pod.ts';

/** Returns an injector that adds a native sidecar, and an init container with the same image. */
function injector(hash: string, image: string, more: JsonObject = {}): NamedInjector {
  const settings = { delimiters: ['{{', '}}'], nativeSidecars: 'Enabled', revision: 'default', pathEnvironment: {} };
  const sidecar = {
    metadata: { labels: { mesh: image.replace(/\W/g, '-') }, annotations: { image } },
    spec: {
      initContainers: [
        { name: 'setup', image },
        { name: 'proxy', image, restartPolicy: 'Always', ...more },
      ],
    },
  };
  const config = { policy: 'enabled', defaultTemplates: ['a'], templates: { a: JSON.stringify(sidecar) } };
  const files = { config: JSON.stringify(config), values: '{}', mesh: '', settings: JSON.stringify(settings) };
  return { name: 'mesh', hash, injector: loadInjector(files) };
}

const [old, next] = [injector('11111111', 'proxy:1'), injector('22222222', 'proxy:2')];
const context = { request: { namespace: 'shop', path: '/inject' }, containerDefaults: containerDefaults([]) };
const situation = { kubeletVersion: 'v1.36.0', isScheduled: true, isSelected: () => false };

/** Returns a stored pod that an injector has injected. */
function stored(by = old): KubernetesObject {
  const metadata = { name: 'web-1', generateName: 'web-', namespace: 'shop' };
  const bare = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
  const predicted = predictPod(bare, by, context);
  assert.ok(predicted.pod !== undefined, predicted.message);
  const pod = predicted.pod as unknown as KubernetesObject;
  const status = { initContainerStatuses: [{ name: 'proxy', restartCount: 3 }] };
  return { ...pod, metadata: { ...pod.metadata, uid: 'u', resourceVersion: '7' }, status };
}

describe('judgeUpdate', () => {
  it('returns what an update writes, and what the pod was before', () => {
    const judgement = judgeUpdate(stored(), old, next, context, situation);
    assert.ok('write' in judgement, JSON.stringify(judgement));
    const images = { 'initContainers/setup': 'proxy:2', 'initContainers/proxy': 'proxy:2' };
    assert.deepEqual(judgement.write.images, images);
    assert.deepEqual(judgement.write.labels, { mesh: 'proxy-2' });
    const { annotations } = judgement.write;
    assert.deepEqual([annotations['image'], annotations[injectedByAnnotation]], ['proxy:2', 'mesh.22222222']);
    assert.deepEqual(judgement.before.restarts, { 'initContainers/setup': -1, 'initContainers/proxy': 3 });
    assert.deepEqual(judgement.before.labels, { mesh: 'proxy-1' });
    assert.equal(judgement.before.annotations[injectedByAnnotation], 'mesh.11111111');
  });

  it('makes the pod equal to a new pod', () => {
    const pod = stored();
    const judgement = judgeUpdate(pod, old, next, context, situation);
    assert.ok('write' in judgement);
    const patch = updatePatch(pod, judgement.write, 'record');
    assert.deepEqual([objectAt(patch, ['metadata']).uid, objectAt(patch, ['metadata']).resourceVersion], ['u', '7']);
    const again = judgeUpdate(patched(pod, patch), next, next, context, situation);
    assert.ok('write' in again, JSON.stringify(again));
    assert.deepEqual(again.write, { images: {}, labels: {}, annotations: {} });
    assert.equal(patched(pod, patch).metadata.annotations?.[updateAnnotation], 'record');
    const back = patched(patched(pod, patch), updatePatch(patched(pod, patch), judgement.before, null));
    assert.deepEqual(judgeUpdate(back, old, next, context, situation), judgement);
  });

  it('returns the resources that a resize writes first, and those before', () => {
    const limited = (cpu: string, memory: string) => ({ resources: { requests: { cpu }, limits: { memory } } });
    const by64 = injector('11111111', 'proxy:1', limited('100m', '64Mi'));
    const limits = judgeUpdate(
      stored(by64),
      by64,
      injector('2', 'proxy:1', limited('100m', '96Mi')),
      context,
      situation,
    );
    assert.ok('resize' in limits, JSON.stringify(limits));
    assert.deepEqual(limits.resize['initContainers/proxy']?.limits, { memory: '96Mi' });
    const [small, large] = ['100m', '0.2'].map((cpu) => ({ resources: { requests: { cpu } } }));
    const by = injector('11111111', 'proxy:1', small);
    const judgement = judgeUpdate(stored(by), by, injector('22222222', 'proxy:1', large), context, situation);
    assert.ok('write' in judgement, JSON.stringify(judgement));
    assert.deepEqual(judgement.resize, { 'initContainers/proxy': { requests: { cpu: '200m' } } });
    assert.deepEqual(judgement.before.resources, { 'initContainers/proxy': { requests: { cpu: '100m' } } });
    const same = injector('22222222', 'proxy:1', { resources: { requests: { cpu: '0.1' } } });
    assert.deepEqual('resize' in judgement && judgeUpdate(stored(by), by, same, context, situation), {
      ...judgeUpdate(stored(by), by, same, context, situation),
      resize: {},
    });
  });

  it('notes a container that the kubelet has not created: its first start is the evidence', () => {
    const restartsWith = (proxy: object): number | undefined => {
      const status = { initContainerStatuses: [{ name: 'proxy', restartCount: 0, ...proxy }] };
      const judgement = judgeUpdate({ ...stored(), status }, old, next, context, situation);
      return 'before' in judgement ? judgement.before.restarts['initContainers/proxy'] : undefined;
    };
    assert.equal(restartsWith({ state: { waiting: { reason: 'ImagePullBackOff' } } }), -1);
    assert.equal(restartsWith({ state: { running: {} } }), 0);
    assert.equal(restartsWith({ state: { waiting: {} }, lastState: { terminated: { exitCode: 1 } } }), 0);
  });

  it('does not write an image that is the same, spelled differently', () => {
    const judgement = judgeUpdate(stored(), old, injector('22222222', 'docker.io/library/proxy:1'), context, situation);
    assert.deepEqual('write' in judgement && judgement.write.images, {});
  });

  for (const [title, before, after, found, field] of [
    ['a configuration that is gone', undefined, next, situation, 'metadata.annotations'],
    [
      'an environment variable',
      old,
      injector('2', 'proxy:2', { env: [{ name: 'A', value: 'b' }] }),
      situation,
      'spec.initContainers[proxy].env',
    ],
    [
      'resources',
      old,
      injector('2', 'proxy:2', { resources: { requests: { cpu: '1' } } }),
      situation,
      'spec.initContainers[proxy].resources',
    ],
    [
      'a kubelet that is too old',
      old,
      next,
      { ...situation, kubeletVersion: 'v1.31.0' },
      'spec.initContainers[proxy].image',
    ],
    ['a label that a Service reads', old, next, { ...situation, isSelected: () => true }, 'metadata.labels["mesh"]'],
    ['a pod that would be refused', old, injector('2', ''), situation, 'spec'],
  ] as const) {
    it(`names ${title}`, () => {
      const judgement = judgeUpdate(stored(), before, after, context, found);
      assert.equal('obstacle' in judgement && judgement.obstacle.field, field);
    });
  }
});

/** Applies a merge patch as the API server does. */
function patched(pod: KubernetesObject, patch: JsonObject): KubernetesObject {
  const merge = (target: unknown, change: unknown): unknown => {
    if (typeof change !== 'object' || change === null || Array.isArray(change)) return change;
    const before = (typeof target === 'object' ? target : {}) as JsonObject;
    const entries = Object.entries(change).map(([key, value]) => [key, merge(before[key], value)] as const);
    return Object.fromEntries(
      Object.entries({ ...before, ...Object.fromEntries(entries) }).filter(([, v]) => v !== null),
    );
  };
  return merge(pod, patch) as KubernetesObject;
}

describe('updateProgress', () => {
  const at = Date.UTC(2026, 0, 1);
  const second = 1000;
  const time = (seconds: number): string => new Date(at + seconds * second).toISOString();
  const bounds = { minReadySeconds: 10, readyTimeout: '2m' };
  const restarts = { 'initContainers/setup': 0, 'initContainers/proxy': 3, 'containers/logger': 0 };
  const images = { 'initContainers/proxy': 'proxy:1' };
  const running = { state: { running: { startedAt: time(1) } } };
  const finished = { name: 'setup', state: { terminated: { exitCode: 0 } } };
  const readyAt = (lastTransitionTime: unknown) => [{ type: 'Ready', status: 'True', lastTransitionTime }];
  const ready = (seconds: number) => readyAt(time(seconds));

  /** Returns the progress some seconds after the update. */
  function progress(proxy: object, seconds: number, status: object = {}, before = restarts): UpdateProgress {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {},
      spec: {
        initContainers: [
          { name: 'setup', image: 'proxy:2' },
          { name: 'proxy', image: 'proxy:2', restartPolicy: 'Always' },
        ],
        containers: [{ name: 'logger', image: 'logger:2' }],
      },
      status: {
        initContainerStatuses: [finished, { name: 'proxy', restartCount: 4, ...running, ...proxy }],
        containerStatuses: [{ name: 'logger', restartCount: 1, ...running }],
        conditions: ready(2),
        ...status,
      },
    };
    return updateProgress(
      pod,
      { tag: 'prod', target: 'mesh.2', at },
      { restarts: before, images },
      bounds,
      at + seconds * second,
    );
  }

  const waiting = (reason: string, message?: string) => ({ state: { waiting: { reason, message } } });
  const notCreated = { ...restarts, 'initContainers/proxy': -1 };
  for (const [title, actual, expected] of [
    [
      'while the old image is still in back-off',
      progress({ ...waiting('CrashLoopBackOff'), restartCount: 3 }, 1),
      'Updating',
    ],
    [
      'while the status still names the old image',
      progress(
        { ...waiting('ImagePullBackOff', 'Back-off pulling image "proxy:1"'), restartCount: 0 },
        1,
        {},
        notCreated,
      ),
      'Updating',
    ],
    ['after the first start of a container', progress({ restartCount: 0 }, 12, {}, notCreated), 'Done'],
    ['before the kubelet has restarted the container', progress({ restartCount: 3 }, 30), 'Updating'],
    ['while the container is away', progress({ state: {} }, 59), 'Updating'],
    ['while the pod is not Ready', progress({}, 100, { conditions: [] }), 'Updating'],
    ['before minReadySeconds', progress({}, 11.9), 'Updating'],
    ['after minReadySeconds', progress({}, 12), 'Done'],
    ['while the status lacks the container', progress({ name: 'other' }, 1), 'Updating'],
    ['when the time of the condition is no time', progress({}, 12, { conditions: readyAt('x') }), 'Done'],
    ['when the condition has no time', progress({}, 12, { conditions: readyAt(undefined) }), 'Done'],
    [
      'if the pod has no node yet',
      progress({ state: {} }, 500, { conditions: [{ type: 'PodScheduled', status: 'False' }] }),
      'Done',
    ],
    ['if the pod has completed', progress({ state: {} }, 500, { phase: 'Succeeded' }), 'Done'],
  ] as const) {
    it(`is ${expected} ${title}`, () => {
      assert.equal(actual, expected);
    });
  }

  for (const [title, actual, message] of [
    [
      'a pull fails with a reason',
      progress(waiting('ErrImagePull', 'not found'), 1),
      /^proxy .*proxy:2 waits: ErrImagePull: not found$/,
    ],
    [
      'the container crashes',
      progress(waiting('CrashLoopBackOff'), 1),
      /^proxy with image proxy:2 waits: CrashLoopBackOff$/,
    ],
    [
      'a pull fails, and names the new image',
      progress({ ...waiting('ErrImagePull', 'pulling image "proxy:2"'), restartCount: 3 }, 1),
      /waits: ErrImagePull: /,
    ],
    ['a container crashes after its first start', progress({ restartCount: 2 }, 1, {}, notCreated), /crashes$/],
    ['the container restarts again and again', progress({ restartCount: 5 }, 5), /^proxy .* crashes$/],
    ['the container is away for a minute', progress({ state: {} }, 60), /does not start: its image may not exist/],
    [
      'the pod is not Ready in time',
      progress({}, 120, { conditions: [] }),
      /^the pod is not Ready after 2m, proxy with image proxy:2, logger with/,
    ],
    [
      'the kubelet does nothing',
      progress({ restartCount: 3 }, 120),
      /still has its old containers after 2m, proxy with image proxy:2, logger with/,
    ],
  ] as const) {
    it(`fails if ${title}`, () => {
      assert.ok(typeof actual === 'object', JSON.stringify(actual));
      assert.match(actual.failed, message);
    });
  }
});
