import assert from 'node:assert/strict';
import { ApiError } from '../../kube/api-error.ts';
import { failedWrite } from './write-outcome.ts';

describe('failedWrite', () => {
  for (const [what, code, reason, message, expected] of [
    ['a role', 403, 'Forbidden', 'deployments.apps "web" is forbidden', 'Refused'],
    ['a quota', 403, 'Forbidden', 'exceeded quota', 'Refused'],
    ['validation', 422, 'Invalid', 'Deployment.apps "web" is invalid', 'Refused'],
    ['a webhook', 400, '', 'admission webhook "x.example.com" denied the request: no', 'Refused'],
    [
      'a webhook with a code of its own',
      429,
      '',
      'admission webhook "x.example.com" denied the request: no',
      'Refused',
    ],
    ['a webhook that says 409', 409, '', 'admission webhook "x.example.com" denied the request: no', 'Refused'],
    [
      'a ValidatingAdmissionPolicy',
      401,
      'Unauthorized',
      "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no",
      'Refused',
    ],
    [
      'a webhook that does not answer',
      500,
      'InternalError',
      'Internal error occurred: failed calling webhook "x.example.com": context deadline exceeded',
      'Refused',
    ],
    ['another version', 409, 'Conflict', 'the object has been modified', 'Conflict, maybe written'],
    [
      'another workload of that name',
      409,
      'Conflict',
      'Precondition failed: UID in precondition: 1, UID in object meta: 2',
      'Conflict, maybe written',
    ],
    ['a namespace that is gone', 404, 'NotFound', 'namespaces "shop" not found', 'Conflict'],
    ['an internal error', 500, 'InternalError', 'Internal error occurred: x', 'Failed, maybe written'],
    ['storage', 504, 'Timeout', 'etcdserver: request timed out', 'Failed, maybe written'],
    ['no answer in time', 0, 'Timeout', 'no answer within 30 s', 'Failed, maybe written'],
    ['a connection that breaks', 0, 'Unreachable', 'socket hang up', 'Failed, maybe written'],
    ['the token', 401, 'Unauthorized', 'Unauthorized', 'Failed'],
    ['too many requests', 429, 'TooManyRequests', 'try again later', undefined],
    ['a lease that is lost', 409, 'NotLeading', 'the lease is not held any more', undefined],
  ] as const) {
    it(`takes ${what} for ${expected ?? 'nothing that concerns one workload'}`, () => {
      const failed = failedWrite(new ApiError({ code, reason, message }));
      const said = failed && `${failed.reason}${failed.isUncertain ? ', maybe written' : ''}`;
      assert.equal(said, expected);
    });
  }

  it('takes what is no answer of the API server for nothing that concerns one workload', () => {
    assert.equal(failedWrite(new Error('the operator is stopping')), undefined);
  });
});
