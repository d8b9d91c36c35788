import assert from 'node:assert/strict';
import { labelsLimit, recordOfWorkload } from './workload-record.ts';
import { workload, type WorkloadFields } from './testdata/workloads.ts';

const isComplete = (kind: string, fields: WorkloadFields): boolean =>
  recordOfWorkload(workload(kind, 'web', fields)).isComplete;

describe('recordOfWorkload', () => {
  it('keeps only the fields that restarts need', () => {
    const object = workload('Deployment', 'web', {
      metadata: { labels: { own: 'label' }, annotations: { own: 'annotation' }, managedFields: [{}] },
      template: {
        labels: { app: 'web' },
        annotations: { other: 'x', 'sidecar-injector.io/restarted': 'prod mesh.0123abcd 2026-01-01T00:00:00.000Z' },
      },
      spec: { strategy: { type: 'Recreate' } },
    });
    assert.deepEqual(recordOfWorkload(object), {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', uid: 'uid-of-web', resourceVersion: '7' },
      restarts: [{ tag: 'prod', target: 'mesh.0123abcd', at: Date.UTC(2026, 0, 1) }],
      paused: false,
      updateType: 'Recreate',
      partition: 0,
      isComplete: true,
      progress: 30_000_003,
      isBeingDeleted: false,
      isExcluded: false,
      isInjectedByHand: false,
      labels: { app: 'web' },
    });
  });

  it('measures progress by new pods first, then by available pods', () => {
    const of = (kind: string, status: object) => recordOfWorkload(workload(kind, 'web', { status })).progress;
    for (const [kind, updated, available] of [
      ['Deployment', 'updatedReplicas', 'availableReplicas'],
      ['StatefulSet', 'updatedReplicas', 'availableReplicas'],
      ['DaemonSet', 'updatedNumberScheduled', 'numberAvailable'],
    ] as const) {
      const steps = [
        of(kind, { observedGeneration: 3 }),
        of(kind, { [updated]: 1, [available]: 3 }),
        of(kind, { [updated]: 2, [available]: 1 }),
        of(kind, { [available]: 2 }),
        of(kind, {}),
      ];
      const sorted = [...steps].sort((one, other) => one - other);
      assert.deepEqual(sorted, steps, kind);
      assert.equal(new Set(steps).size, steps.length);
      assert.equal(steps[0], 0, 'a status of an earlier spec does not count');
    }
  });

  it('returns the update type, the partition, and whether the workload is paused', () => {
    const of = (kind: string, spec: object) => {
      const { updateType, partition, paused } = recordOfWorkload(workload(kind, 'web', { spec }));
      return [updateType, partition, paused];
    };
    const rolling = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
    const paused = { paused: true, strategy: { type: 'RollingUpdate' } };
    assert.deepEqual(of('Deployment', paused), ['RollingUpdate', 0, true]);
    assert.deepEqual(of('StatefulSet', { updateStrategy: rolling }), ['RollingUpdate', 2, false]);
    assert.deepEqual(of('StatefulSet', { updateStrategy: { type: 'OnDelete' } }), ['OnDelete', 0, false]);
    assert.deepEqual(of('DaemonSet', { updateStrategy: { type: 'OnDelete' } }), ['OnDelete', 0, false]);
    assert.deepEqual(of('DaemonSet', { updateStrategy: rolling, paused: 'yes' }), ['RollingUpdate', 0, false]);
    assert.deepEqual(of('Deployment', {}), [undefined, 0, false]);
  });

  it('reports a deletion', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.equal(recordOfWorkload(workload('Deployment', 'web', { metadata })).isBeingDeleted, true);
  });

  it('reports an exclusion only for the value "false"', () => {
    const of = (fields: WorkloadFields) => recordOfWorkload(workload('Deployment', 'web', fields)).isExcluded;
    const annotated = (value: string) => ({ annotations: { 'sidecar-injector.io/restart': value } });
    const excluded = ['false', 'true', 'False'].map((value) => of({ metadata: annotated(value) }));
    assert.deepEqual(excluded, [true, false, false]);
    assert.equal(of({ template: annotated('false') }), false, 'an annotation on the template has no effect');
  });

  it('reports a template with a sidecar', () => {
    const template = { annotations: { 'sidecar-injector.io/config': 'mesh.0123abcd' } };
    assert.equal(recordOfWorkload(workload('Deployment', 'web', { template })).isInjectedByHand, true);
  });

  it('limits labels', () => {
    const labelsOf = (labels: Record<string, unknown>) =>
      recordOfWorkload(workload('Deployment', 'web', { template: { labels } })).labels;
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, '']));
    assert.equal(Object.keys(labelsOf(many(labelsLimit.count)) ?? {}).length, labelsLimit.count);
    assert.equal(labelsOf(many(labelsLimit.count + 1)), undefined);
    const long = (characters: number) => ({ ['k'.repeat(96)]: 'v'.repeat(characters - 96) });
    assert.notEqual(labelsOf(long(labelsLimit.characters)), undefined);
    assert.equal(labelsOf(long(labelsLimit.characters + 1)), undefined);
    assert.deepEqual(labelsOf({ a: 'b', c: 5 }), { a: 'b' });
    assert.deepEqual(recordOfWorkload({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} }).labels, {});
  });

  it('accepts an object without spec and status, and reports it as incomplete', () => {
    for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet']) {
      const object = { apiVersion: 'apps/v1', kind, metadata: { generation: 1 }, spec: null, status: null };
      const bare = recordOfWorkload(object);
      assert.deepEqual([bare.isComplete, bare.restarts], [false, []], kind);
    }
  });
});

describe('a workload is complete', () => {
  const counts = (replicas?: number) => ({ replicas, updatedReplicas: replicas, availableReplicas: replicas });
  const leaving = { ...counts(0), replicas: 3 };
  const none = { spec: { replicas: 0 } };
  const unscheduled = { desiredNumberScheduled: 0, updatedNumberScheduled: undefined, numberAvailable: undefined };
  const cases: readonly (readonly [title: string, kind: string, fields: WorkloadFields, expected: boolean])[] = [
    ['when all of its pods are new and available', 'Deployment', {}, true],
    ['not before its controller has observed the edit', 'Deployment', { status: { observedGeneration: 3 } }, false],
    ['when its controller has observed a later edit', 'Deployment', { status: { observedGeneration: 5 } }, true],
    ['not while some pods are old', 'Deployment', { status: { updatedReplicas: 2 } }, false],
    ['not while a surplus pod exists (maxSurge)', 'Deployment', { status: { replicas: 4 } }, false],
    ['not while a pod is unavailable', 'Deployment', { status: { availableReplicas: 2 } }, false],
    ['not while an old pod is available', 'Deployment', { status: { updatedReplicas: 2, replicas: 3 } }, false],
    ['not while it is scaled up', 'Deployment', { spec: { replicas: 5 } }, false],
    ['not while it is scaled down', 'Deployment', { spec: { replicas: 2 } }, false],
    ['with no replicas, once all pods are deleted', 'Deployment', { ...none, status: counts() }, true],
    ['with no replicas, not before all pods are deleted', 'Deployment', { ...none, status: leaving }, false],
    ['with 1 pod, replicas unset', 'Deployment', { spec: { replicas: undefined }, status: counts(1) }, true],
    ['when all of its pods are new and available', 'StatefulSet', {}, true],
    ['not before its controller has observed the edit', 'StatefulSet', { status: { observedGeneration: 3 } }, false],
    ['not while some pods are old', 'StatefulSet', { status: { updatedReplicas: 1 } }, false],
    ['not before its minReadySeconds', 'StatefulSet', { status: { readyReplicas: 3, availableReplicas: 2 } }, false],
    ['not while a pod is missing', 'StatefulSet', { status: { replicas: 2 } }, false],
    ['when each node has a new available pod', 'DaemonSet', {}, true],
    ['not before its controller has observed the edit', 'DaemonSet', { status: { observedGeneration: 3 } }, false],
    ['not while some nodes have an old pod', 'DaemonSet', { status: { updatedNumberScheduled: 2 } }, false],
    ['not while a pod is unavailable', 'DaemonSet', { status: { numberAvailable: 2 } }, false],
    ['when no node is selected', 'DaemonSet', { status: unscheduled }, true],
  ];
  for (const [title, kind, fields, expected] of cases) {
    it(`${title} (${kind})`, () => {
      assert.equal(isComplete(kind, fields), expected);
    });
  }

  it('according to the counts of its kind', () => {
    assert.equal(isComplete('DaemonSet', { status: { ...counts(3), numberAvailable: 0 } }), false);
  });
});
