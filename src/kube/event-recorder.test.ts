import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { EventRecorder } from './event-recorder.ts';
import { capturingLogger } from './testdata/capturing-logger.ts';
import { ManualClock, settle } from './testdata/manual-clock.ts';

const config: KubernetesObject = {
  apiVersion: 'sidecar-injector.io/v1alpha1',
  kind: 'InjectorConfig',
  metadata: { name: 'default', uid: 'u1', resourceVersion: '3' },
};
const event = { type: 'Normal', reason: 'Published', action: 'Publish', note: 'configuration 1 is published' } as const;

function setUp() {
  const clock = new ManualClock();
  const logger = capturingLogger();
  const created: KubernetesObject[] = [];
  const patched: unknown[] = [];
  const state = { fail: false };
  const client = {
    create: <T>(object: T): Promise<T> => {
      created.push(object as KubernetesObject);
      return state.fail ? Promise.reject(new Error('forbidden')) : Promise.resolve(object);
    },
    patch: <T>(_target: unknown, _type: string, body: unknown): Promise<T> => {
      patched.push(body);
      return Promise.resolve(body as T);
    },
  };
  const controller = 'sidecar-injector.io/operator';
  const recorder = new EventRecorder({ client, clock, logger, controller, instance: 'pod-1' });
  return { clock, logger, created, patched, recorder, state };
}

describe('EventRecorder', () => {
  it('writes a valid Event, in namespace `default` for a cluster-scoped object', () => {
    const { created, recorder } = setUp();
    recorder.record(config, event);
    const { metadata, ...rest } = created[0]!;
    assert.equal(metadata.namespace, 'default');
    assert.match(metadata.name!, /^default\.[0-9a-f]+$/);
    const { apiVersion, kind } = config;
    assert.deepEqual(rest, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      eventTime: '2026-01-01T00:00:00.000000Z',
      ...event,
      reportingController: 'sidecar-injector.io/operator',
      reportingInstance: 'pod-1',
      regarding: { apiVersion, kind, name: 'default', namespace: undefined, uid: 'u1', resourceVersion: '3' },
    });
    recorder.record({ ...config, metadata: { name: 'pod', namespace: 'n', uid: 'u2' } }, event);
    assert.equal(created[1]!.metadata.namespace, 'n');
    assert.notEqual(created[1]!.metadata.name, metadata.name);
  });

  it('gives the Event a valid name, wherever the long name of a pod is cut', () => {
    const { created, recorder } = setUp();
    const names = ['-', '.', '--', '.a', 'a'].map((end) => `${'a'.repeat(220 - end.length)}${end}${'-a'.repeat(16)}`);
    for (const name of names) recorder.record({ ...config, metadata: { name, namespace: 'n', uid: name } }, event);
    for (const { metadata } of created) assert.match(metadata.name!, /^a+(\.a)?\.[0-9a-f]+$/);
    assert.equal(created.length, names.length);
  });

  it('counts repetitions in a series, patches it every 30 s, and starts a new Event after 6 minutes', async () => {
    const { clock, created, patched, recorder } = setUp();
    for (let index = 0; index < 100; index += 1) recorder.record(config, event);
    assert.equal(created.length, 1);
    await clock.advance(10_000);
    recorder.record(config, event);
    await clock.advance(20_000);
    const lastObservedTime = '2026-01-01T00:00:10.000000Z';
    assert.deepEqual(patched, [{ series: { count: 101, lastObservedTime } }], 'the last occurrence, not the write');
    recorder.record(config, event);
    await clock.advance(29_999);
    assert.equal(patched.length, 1);
    await clock.advance(60_001);
    recorder.record(config, event);
    await clock.advance(0);
    assert.equal(patched.length, 3, 'a repetition after a pause is written immediately');
    await clock.advance(360_001);
    recorder.record(config, event);
    assert.equal(created.length, 2);
  });

  it('limits the rate of different Events for each object and reason', async () => {
    const { clock, created, recorder } = setUp();
    for (let index = 0; index < 100; index += 1) recorder.record(config, { ...event, note: `note ${index}` });
    assert.equal(created.length, 25);
    recorder.record({ ...config, metadata: { name: 'other', uid: 'u2' } }, event);
    recorder.record(config, { ...event, reason: 'Other' });
    assert.equal(created.length, 27, 'neither another object nor another reason waits');
    await clock.advance(300_000);
    for (const note of ['x', 'y']) recorder.record(config, { ...event, note });
    assert.equal(created.length, 28);
  });

  it('cuts notes at 1024 bytes, between characters', () => {
    const { created, recorder } = setUp();
    recorder.record(config, { ...event, note: 'é'.repeat(1000) });
    const note = created[0]!.note as string;
    assert.ok(Buffer.byteLength(note) <= 1024);
    assert.match(note, /^é+…$/);
  });

  it('logs a failed write at debug level and does not throw', async () => {
    const { logger, recorder, state } = setUp();
    state.fail = true;
    recorder.record(config, event);
    await settle();
    const line = { level: 'debug', message: 'an event was not written', fields: { error: 'forbidden' } };
    assert.deepEqual(logger.lines, [line]);
  });
});
