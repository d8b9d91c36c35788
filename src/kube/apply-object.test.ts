import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { ApiError } from './api-error.ts';
import { ObjectApplier } from './apply-object.ts';
import { objectDifference } from './object-difference.ts';
import { ManualClock } from './testdata/manual-clock.ts';

const desired: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'c',
    namespace: 'n',
    labels: { ours: '1' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'o', uid: 'u' }],
  },
  data: { a: '1' },
};
const live: KubernetesObject = {
  ...desired,
  metadata: { ...desired.metadata, uid: 'live', resourceVersion: '5', labels: { ours: '1', theirs: '2' } },
  data: { a: '2' },
};

const causes = [
  { reason: 'FieldManagerConflict', message: 'conflict with "kubectl \\"edit\\"" using v1', field: '.data.a' },
  { reason: 'FieldManagerConflict', message: 'conflict with "us" using v1', field: '.data.b' },
];
const conflict = new ApiError({ code: 409, reason: 'Conflict', message: 'Apply failed with 2 conflicts', causes });
const invalid = (message: string, ...causes: string[]): ApiError =>
  new ApiError({ code: 422, reason: 'Invalid', message, causes: causes.map((each) => ({ message: each })) });
const exists = new ApiError({ code: 409, reason: 'AlreadyExists', message: 'exists' });

/** Answers each request with the next of `answers`: an object or an error. */
function setUp(...answers: (KubernetesObject | Error)[]) {
  const clock = new ManualClock();
  const calls: string[] = [];
  const bodies: KubernetesObject[] = [];
  const next = <T>(call: string, object: KubernetesObject): Promise<T> => {
    calls.push(call);
    bodies.push(object);
    const answer = answers.shift();
    if (answer === undefined) return Promise.reject(new Error(`unexpected ${call}`));
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as T);
  };
  const client = {
    apply: <T>(object: T, { force }: { force?: boolean | undefined }) =>
      next<T>(force === true ? 'force' : 'apply', object as KubernetesObject),
    create: <T>(object: T, options?: { dryRun?: boolean | undefined }) =>
      next<T>(options?.dryRun === true ? 'try create' : 'create', object as KubernetesObject),
    replace: <T>(object: T) => next<T>('replace', object as KubernetesObject),
    delete: async (object: object, options?: { uid?: string | undefined }) => {
      await next(`delete ${options?.uid ?? ''}`, object as KubernetesObject);
    },
  };
  return { clock, calls, bodies, applier: new ObjectApplier({ client, fieldManager: 'us', clock }) };
}

describe('ObjectApplier', () => {
  it('writes nothing when the live object equals the desired object', async () => {
    const { applier, calls } = setUp();
    const same = { ...live, data: desired.data };
    const unchanged = { outcome: 'Unchanged', object: same, difference: undefined, foreign: [] };
    assert.deepEqual(await applier.apply(desired, same), unchanged);
    assert.deepEqual(calls, []);
  });

  it('creates a missing object, and updates an object that differs, without force', async () => {
    const { applier, calls } = setUp(desired, desired);
    assert.equal((await applier.apply(desired, undefined)).outcome, 'Created');
    const updated = await applier.apply(desired, live);
    assert.deepEqual([updated.outcome, updated.difference, updated.object], ['Updated', 'data', desired]);
    assert.deepEqual(calls, ['apply', 'apply']);
  });

  it('takes back a field by force, reports the other field manager, and then waits for one second', async () => {
    const { applier, calls, clock } = setUp(conflict, desired, desired);
    const applied = await applier.apply(desired, live);
    assert.deepEqual(applied.foreign, [{ manager: 'kubectl \\"edit\\"', field: '.data.a' }]);
    assert.equal(applied.outcome, 'Updated');
    await clock.advance(400);
    const deferred = await applier.apply(desired, live);
    assert.deepEqual([deferred.outcome, deferred.retryAfter], ['Deferred', 600]);
    const other = { ...desired, metadata: { ...desired.metadata, name: 'other' } };
    assert.equal((await applier.apply({ ...other, data: {} }, { ...other, data: {} })).outcome, 'Unchanged');
    await clock.advance(600);
    assert.equal((await applier.apply(desired, live)).outcome, 'Updated');
    assert.deepEqual(calls, ['apply', 'force', 'apply']);
  });

  it('does not report its own earlier update as a change by another field manager', async () => {
    const own = new ApiError({ code: 409, reason: 'Conflict', message: '', causes: causes.slice(1) });
    const { applier, calls } = setUp(own, desired, desired);
    assert.deepEqual((await applier.apply(desired, live)).foreign, []);
    assert.equal((await applier.apply(desired, live)).outcome, 'Updated');
    assert.deepEqual(calls, ['apply', 'force', 'apply']);
  });

  it('replaces the object when another field manager added list items that an apply keeps', async () => {
    const metadata = { ...desired.metadata, resourceVersion: '6', annotations: { x: 'y' } };
    const remaining = { ...desired, metadata, data: { a: '1', foreign: '2' } };
    const { applier, calls, bodies } = setUp(remaining, desired);
    assert.equal((await applier.apply(desired, live)).object, desired);
    assert.deepEqual(calls, ['apply', 'replace']);
    assert.deepEqual(bodies[1]!.data, { a: '1' });
    assert.equal(bodies[1]!.metadata.resourceVersion, '6');
    assert.deepEqual(bodies[1]!.metadata.annotations, { x: 'y' });
    assert.equal(bodies[1]!.metadata.ownerReferences?.length, 1);
  });

  it('accepts a difference that remains after a replace, until the live or desired object changes', async () => {
    const metadata = { ...desired.metadata, resourceVersion: '6' };
    const filled = { ...desired, metadata, data: { a: '1', new: 'default' } };
    const { applier, calls, clock } = setUp(filled, filled, filled, filled);
    await applier.apply(desired, live);
    assert.deepEqual(calls, ['apply', 'replace']);
    assert.equal((await applier.apply(desired, filled)).outcome, 'Unchanged');
    await clock.advance(1000);
    await applier.apply(desired, { ...filled, metadata: { ...metadata, resourceVersion: '7' } });
    assert.deepEqual(calls, ['apply', 'replace', 'apply', 'replace']);
  });

  it('replaces the version that was read when the API server rejects an apply as Invalid', async () => {
    const { applier, calls, bodies } = setUp(invalid('webhooks[1].clientConfig: Required value'), desired);
    assert.equal((await applier.apply(desired, live)).outcome, 'Updated');
    assert.deepEqual(calls, ['apply', 'replace']);
    assert.deepEqual(bodies[1]!.metadata.labels, { ours: '1', theirs: '2' });
  });

  it('keeps spec fields that the API server filled in when it replaces the object', async () => {
    const service = { ...desired, kind: 'Service', data: undefined, spec: { type: 'ClusterIP' } };
    const { applier, bodies } = setUp(conflict, invalid('no'), service);
    await applier.apply(service, { ...service, spec: { type: 'NodePort', clusterIP: '10.0.0.1' } });
    assert.deepEqual(bodies[2]!.spec, { type: 'ClusterIP', clusterIP: '10.0.0.1' });
  });

  const immutableCauses: [kind: string, cause: string][] = [
    ['ConfigMap', 'Forbidden: field is immutable when `immutable` is set'],
    ['Secret', 'Invalid value: "Opaque": field is immutable'],
  ];
  for (const [kind, cause] of immutableCauses) {
    it(`recreates an immutable ${kind} after a dry-run create`, async () => {
      const immutable = invalid('no', cause);
      const { applier, calls } = setUp(immutable, immutable, exists, desired, desired);
      assert.equal((await applier.apply({ ...desired, kind }, { ...live, kind })).outcome, 'Recreated');
      assert.deepEqual(calls, ['apply', 'replace', 'try create', 'delete live', 'force']);
    });
  }

  it('deletes nothing when the dry-run create fails', async () => {
    const immutable = invalid('no', immutableCauses[0]![1]);
    const refused = invalid('too long');
    const { applier, calls } = setUp(immutable, immutable, refused);
    await assert.rejects(applier.apply(desired, live), refused);
    assert.deepEqual(calls, ['apply', 'replace', 'try create']);
  });

  const similarMessages: [what: string, kind: string, message: string, cause: string][] = [
    ['a webhook configuration whose field is immutable', 'MutatingWebhookConfiguration', 'x', 'y: field is immutable'],
    ['an object with "immutable" in its name', 'ConfigMap', 'ConfigMap "immutable" is invalid', 'Required value'],
    ['an object with "immutable" in a field value', 'ConfigMap', 'x', 'Invalid value: "a: field is immutable b": bad'],
  ];
  for (const [what, kind, message, cause] of similarMessages) {
    it(`never deletes ${what}`, async () => {
      const error = invalid(message, cause);
      const { applier, calls } = setUp(error, error, exists, desired, desired);
      await assert.rejects(applier.apply({ ...desired, kind }, { ...live, kind }), error);
      assert.deepEqual(calls, ['apply', 'replace']);
    });
  }

  it('leaves no difference after it replaces any live object', async () => {
    const text = fc.constantFrom('', 'a', 'b');
    const map = fc.dictionary(fc.constantFrom('a', 'ours', 'theirs'), text);
    const specs = fc.dictionary(fc.constantFrom('type', 'more'), text);
    const found = fc.record({ labels: map, annotations: map, data: map, spec: specs });
    const service: KubernetesObject = { ...desired, kind: 'Service', spec: { type: 'a', ports: [{ port: 1 }] } };
    await fc.assert(
      fc.asyncProperty(found, async ({ labels, annotations, data, spec }) => {
        const { applier, bodies } = setUp(invalid('no'), desired);
        const existing = { ...live, kind: 'Service', metadata: { ...live.metadata, labels, annotations }, data, spec };
        await applier.apply(service, existing);
        const replaced = bodies[1]!;
        assert.equal(objectDifference(service, replaced, 'us'), undefined);
        assert.deepEqual({ ...annotations, ...replaced.metadata.annotations }, replaced.metadata.annotations);
      }),
    );
  });

  const failures: [what: string, live: KubernetesObject | undefined, answers: Error[]][] = [
    ['a new object is Invalid', undefined, [invalid('no')]],
    ['an object is Invalid when applied and when replaced', live, [invalid('no'), invalid('still no')]],
    ['the resourceVersion is outdated', live, [new ApiError({ code: 409, reason: 'Conflict', message: 'modified' })]],
    ['a permission is missing', live, [new ApiError({ code: 403, reason: 'Forbidden', message: 'no' })]],
    ['the error is not an ApiError', live, [new TypeError('x')]],
    ['the forced apply fails', live, [conflict, new ApiError({ code: 500, reason: 'InternalError', message: 'x' })]],
  ];
  for (const [what, found, answers] of failures) {
    it(`rejects with the original error when ${what}`, async () => {
      const { applier } = setUp(...answers);
      await assert.rejects(applier.apply(desired, found), answers.at(-1));
    });
  }
});
