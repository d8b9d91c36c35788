import assert from 'node:assert/strict';
import { failedWrite, FailedRestarts, type FailedRestart } from './failed-restarts.ts';
import { workload } from './testdata/workloads.ts';
import { recordOfWorkload, type WorkloadRecord } from './workload-record.ts';
import { ApiError } from '../../kube/api-error.ts';

describe('FailedRestarts', () => {
  let now: number;
  let failedRestarts: FailedRestarts;
  beforeEach(() => {
    now = 0;
    failedRestarts = new FailedRestarts(() => now);
  });

  const record = (name: string, metadata: object = {}): WorkloadRecord =>
    recordOfWorkload(workload('Deployment', name, { metadata }));
  const keyOf = (name: string): string => `shop/Deployment/${name}`;
  const target = 'new.11111111';
  const fail = (name: string, fields: Partial<FailedRestart> = {}): void => {
    const failure = {
      target,
      reason: 'Failed',
      isUncertain: false,
      message: 'no',
      took: 0,
      record: record(name),
    } as const;
    failedRestarts.add(keyOf(name), { ...failure, ...fields });
  };
  const lastNamespaces = (): string[] => [...failedRestarts.lastNamespaces()];
  /** Advances the clock to the end of a workload's back-off; returns its length in milliseconds. */
  const backOffOf = (name: string): number => {
    const began = now;
    while (failedRestarts.holdOf(keyOf(name), target) !== undefined && now < began + 10_000_000) now += 500;
    return now - began;
  };

  it('backs off exponentially, up to ten minutes', () => {
    const waits = Array.from({ length: 6 }, () => {
      fail('web');
      return backOffOf('web');
    });
    assert.deepEqual(waits, [5000, 20_000, 80_000, 320_000, 600_000, 600_000]);
    failedRestarts.resolve(keyOf('web'));
    fail('web');
    assert.equal(backOffOf('web'), 5000, 'a restart resets the back-off');
  });

  it('backs off for a minute after a rejection, and for seconds after a conflict', () => {
    for (const [reason, expected] of [
      ['Refused', [60, 60, 60]],
      ['Conflict', [1, 2, 4]],
    ] as const) {
      const waits = expected.map(() => {
        fail('web', { reason });
        return backOffOf('web') / 1000;
      });
      assert.deepEqual(waits, expected);
    }
  });

  it('does not delay another target, unless the write may be stored', () => {
    for (const isUncertain of [false, true]) {
      fail('web', { reason: 'Refused', isUncertain });
      assert.equal(failedRestarts.holdOf(keyOf('web'), 'newer.22222222') !== undefined, isUncertain);
    }
  });

  it('backs off longer after many failures, so other workloads get half of the attempts', () => {
    for (let index = 0; index < 100; index += 1) fail(`w${index}`, { reason: 'Refused' });
    assert.equal(backOffOf('w0'), 200_000, '100 passes for retries, and 100 for other workloads');
  });

  it('backs off longer after slow writes, so other workloads get half of the time', () => {
    fail('web', { took: 29_000 });
    assert.equal(backOffOf('web'), 60_000);
  });

  it('returns the truncated message and `isFailure`', () => {
    fail('web', { message: 'x'.repeat(5000) });
    fail('db', { reason: 'Conflict', message: 'modified' });
    const [web, db, other] = ['web', 'db', 'other'].map((name) => failedRestarts.holdOf(keyOf(name), target));
    assert.deepEqual(web, { reason: 'Failed', message: 'x'.repeat(512), isFailure: true });
    assert.deepEqual(db, { reason: 'Conflict', message: 'modified', isFailure: false });
    assert.equal(other, undefined);
  });

  it('reports namespaces with three or more failures', () => {
    for (const name of ['a', 'b']) fail(name, { reason: 'Refused' });
    fail('c', { reason: 'Conflict' });
    assert.deepEqual(lastNamespaces(), []);
    fail('b');
    assert.deepEqual(lastNamespaces(), [], 'two failures of one workload');
    fail('d');
    assert.deepEqual(lastNamespaces(), ['shop']);
    failedRestarts.resolve(keyOf('a'));
    assert.deepEqual(lastNamespaces(), []);
  });

  it('drops entries an hour after their back-off', () => {
    for (const name of ['a', 'b', 'c']) fail(name);
    now = 2 * 3_600_000;
    fail('d');
    assert.deepEqual(lastNamespaces(), []);
  });

  it('returns an uncertain restart for a minute, or until a new version is seen', () => {
    fail('web', { isUncertain: true });
    fail('db');
    const uncertain = (present: WorkloadRecord | undefined) => [...failedRestarts.uncertain(() => present).keys()];
    assert.deepEqual(uncertain(record('web')), [keyOf('web')]);
    assert.deepEqual(uncertain(record('web', { resourceVersion: '8' })), [], 'a new version was seen');
    assert.deepEqual(uncertain(record('web', { uid: 'another' })), []);
    assert.deepEqual(uncertain(undefined), []);
    now = 59_999;
    assert.deepEqual(uncertain(record('web')), [keyOf('web')]);
    now = 60_000;
    assert.deepEqual(uncertain(record('web')), []);
  });
});

describe('failedWrite', () => {
  const unanswered = 'Internal error occurred: failed calling webhook "x.example.com": context deadline exceeded';
  const deniedByPolicy = "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no";
  const denied = 'admission webhook "x.example.com" denied the request: no';
  for (const [what, code, reason, message, expected] of [
    ['a missing permission', 403, 'Forbidden', 'deployments.apps "web" is forbidden', 'Refused'],
    ['a quota', 403, 'Forbidden', 'exceeded quota', 'Refused'],
    ['validation', 422, 'Invalid', 'Deployment.apps "web" is invalid', 'Refused'],
    ['a webhook', 400, '', denied, 'Refused'],
    ['a webhook with code 429', 429, '', denied, 'Refused'],
    ['a webhook with code 409', 409, '', denied, 'Refused'],
    ['a ValidatingAdmissionPolicy', 401, 'Unauthorized', deniedByPolicy, 'Refused'],
    ['a webhook that does not answer', 500, 'InternalError', unanswered, 'Refused'],
    ['a newer version', 409, 'Conflict', 'the object has been modified', 'Conflict, maybe written'],
    ['a recreated workload', 409, 'Conflict', 'Precondition failed: UID', 'Conflict, maybe written'],
    ['a deleted namespace', 404, 'NotFound', 'namespaces "shop" not found', 'Conflict'],
    ['an internal error', 500, 'InternalError', 'Internal error occurred: x', 'Failed, maybe written'],
    ['a storage timeout', 504, 'Timeout', 'etcdserver: request timed out', 'Failed, maybe written'],
    ['a client timeout', 0, 'Timeout', 'no answer within 30 s', 'Failed, maybe written'],
    ['a broken connection', 0, 'Unreachable', 'socket hang up', 'Failed, maybe written'],
    ['an invalid token', 401, 'Unauthorized', 'Unauthorized', 'Failed'],
    ['throttling', 429, 'TooManyRequests', 'try again later', undefined],
    ['a lost lease', 409, 'NotLeading', 'the lease is not held any more', undefined],
  ] as const) {
    it(`classifies ${what} as ${expected ?? 'not specific to the workload'}`, () => {
      const failed = failedWrite(new ApiError({ code, reason, message }));
      const actual = failed && `${failed.reason}${failed.isUncertain ? ', maybe written' : ''}`;
      assert.equal(actual, expected);
    });
  }

  it('classifies an error that is not an API error as not specific to the workload', () => {
    assert.equal(failedWrite(new Error('the operator is stopping')), undefined);
  });
});
