import assert from 'node:assert/strict';
import { type AdmissionDecision, allowed, denied, type ReviewVersion } from './admission-decision.ts';
import { encodeDecision, joinReview, shortenWarning } from './encode-admission-review.ts';
import { answeredReview, patchOf } from '../testdata/reviews.ts';

const encode = (decision: AdmissionDecision, uid = 'uid-1', version: ReviewVersion = 'admission.k8s.io/v1'): string =>
  joinReview(version, uid, encodeDecision(decision));

describe('encodeDecision and joinReview', () => {
  it('encode an allowed review without other fields', () => {
    assert.equal(
      encode(allowed('Valid')),
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"uid-1","allowed":true}}',
    );
  });

  it('encode the given version', () => {
    const version = 'admission.k8s.io/v1beta1';
    assert.equal(answeredReview(encode(allowed('Valid'), 'u', version)).apiVersion, version);
  });

  it('encode any uid', () => {
    for (const uid of ['"},"allowed":true,{"', '\u0000\ud800', 'ü🛵']) {
      assert.equal(answeredReview(encode(allowed('Valid'), uid)).response.uid, uid);
    }
  });

  it('encode patch and patchType together, or neither for an empty patch', () => {
    const patch = [{ op: 'add' as const, path: '/spec/ä', value: '<&>' }];
    const answer = answeredReview(encode({ ...allowed('Injected'), patch }));
    assert.equal(answer.response.patchType, 'JSONPatch');
    assert.deepEqual(patchOf(answer), patch);
    const { response } = answeredReview(encode({ ...allowed('Injected'), patch: [] }));
    assert.deepEqual(Object.keys(response), ['uid', 'allowed']);
  });

  it('encode a refusal with status, causes and warnings', () => {
    const decision = denied('Invalid', 422, 'two fields', [{ field: 'spec.a', message: 'spec.a must be b' }], {
      kind: 'A',
      name: 'a',
    });
    const auditAnnotations = { reason: 'Invalid' };
    const answer = answeredReview(encode({ ...decision, warnings: ['w'.repeat(300), 'short'], auditAnnotations }));
    const causes = [{ reason: 'FieldValueInvalid', message: 'must be b', field: 'spec.a' }];
    const details = { kind: 'A', name: 'a', causes };
    assert.deepEqual(answer.response, {
      uid: 'uid-1',
      allowed: false,
      status: { status: 'Failure', code: 422, reason: 'Invalid', message: 'two fields', details },
      warnings: [`${'w'.repeat(253)}...`, 'short'],
      auditAnnotations,
    });
  });

  for (const [code, reason] of [
    [400, 'BadRequest'],
    [403, 'Forbidden'],
    [500, 'InternalError'],
  ] as const) {
    it(`encode code ${code} as ${reason}, without details if there are no causes`, () => {
      const { status } = answeredReview(encode(denied('Why', code, 'so'))).response;
      assert.deepEqual(status, { status: 'Failure', code, reason, message: 'so' });
    });
  }
});

describe('shortenWarning', () => {
  for (const [text, shown] of [
    ['short', 'short'],
    ['two\nlines\tand \u0007 a bell', 'two lines and   a bell'],
    ['x'.repeat(256), 'x'.repeat(256)],
    ['x'.repeat(257), `${'x'.repeat(253)}...`],
    ['🛵'.repeat(257), `${'🛵'.repeat(253)}...`],
  ] as const) {
    it(`converts ${JSON.stringify(text.slice(0, 24))} of ${text.length} UTF-16 units`, () => {
      assert.equal(shortenWarning(text), shown);
    });
  }
});
