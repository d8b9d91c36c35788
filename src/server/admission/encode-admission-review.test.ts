import assert from 'node:assert/strict';
import { type AdmissionDecision, allowed, denied } from './admission-decision.ts';
import { encodeAdmissionReview } from './encode-admission-review.ts';
import { answeredReview, patchOf } from '../testdata/reviews.ts';

const encode = (decision: AdmissionDecision, uid = 'uid-1'): string =>
  encodeAdmissionReview('admission.k8s.io/v1', uid, decision);

describe('encodeAdmissionReview', () => {
  it('allows with nothing but that', () => {
    assert.equal(
      encode(allowed('Valid')),
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"uid-1","allowed":true}}',
    );
  });

  it('answers in the version that it is given', () => {
    assert.equal(
      answeredReview(encodeAdmissionReview('admission.k8s.io/v1beta1', 'u', allowed('Valid'))).apiVersion,
      'admission.k8s.io/v1beta1',
    );
  });

  it('echoes any uid', () => {
    for (const uid of ['"},"allowed":true,{"', '\u0000\ud800', 'ü🛵']) {
      assert.equal(answeredReview(encode(allowed('Valid'), uid)).response.uid, uid);
    }
  });

  it('sends patch and patchType together, or neither for a patch that changes nothing', () => {
    const patch = [{ op: 'add' as const, path: '/spec/ä', value: '<&>' }];
    const answer = answeredReview(encode({ ...allowed('Injected'), patch }));
    assert.equal(answer.response.patchType, 'JSONPatch');
    assert.deepEqual(patchOf(answer), patch);
    assert.deepEqual(Object.keys(answeredReview(encode({ ...allowed('Injected'), patch: [] })).response), [
      'uid',
      'allowed',
    ]);
  });

  it('refuses with a status, its causes and warnings that Kubernetes shows', () => {
    const decision = denied('Invalid', 422, 'two fields', [{ field: 'spec.a', message: 'must be b' }]);
    const answer = answeredReview(
      encode({ ...decision, warnings: ['w'.repeat(200), 'short'], auditAnnotations: { reason: 'Invalid' } }),
    );
    assert.deepEqual(answer.response, {
      uid: 'uid-1',
      allowed: false,
      status: {
        status: 'Failure',
        code: 422,
        reason: 'Invalid',
        message: 'two fields',
        details: { causes: [{ reason: 'FieldValueInvalid', message: 'must be b', field: 'spec.a' }] },
      },
      warnings: [`${'w'.repeat(117)}...`, 'short'],
      auditAnnotations: { reason: 'Invalid' },
    });
  });

  for (const [code, reason] of [
    [400, 'BadRequest'],
    [403, 'Forbidden'],
    [500, 'InternalError'],
  ] as const) {
    it(`${code} is ${reason}, without details when there are no causes`, () => {
      const { status } = answeredReview(encode(denied('Why', code, 'so'))).response;
      assert.deepEqual(status, { status: 'Failure', code, reason, message: 'so' });
    });
  }
});
