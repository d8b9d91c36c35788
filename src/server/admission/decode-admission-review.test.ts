import assert from 'node:assert/strict';
import { decodeAdmissionReview } from './decode-admission-review.ts';
import { bytesOf, podCreation, reviewOf, somePod } from '../testdata/reviews.ts';

const decode = (value: unknown): unknown => decodeAdmissionReview(bytesOf(value), 50);

describe('decodeAdmissionReview', () => {
  it('reads a review of v1', () => {
    assert.deepEqual(decode(reviewOf()), { version: 'admission.k8s.io/v1', request: podCreation() });
  });

  it('reads a review of v1beta1, and what the API server leaves out as empty', () => {
    const review = {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1beta1',
      request: { uid: 'u', operation: 'DELETE' },
    };
    assert.deepEqual(decode(review), {
      version: 'admission.k8s.io/v1beta1',
      request: podCreation({ uid: 'u', resource: undefined, namespace: '', operation: 'DELETE', object: null }),
    });
  });

  it('names the resource with its group', () => {
    const resource = { group: 'sidecar-injector.io', version: 'v1alpha1', resource: 'injectorconfigs' };
    const { request } = decode(
      reviewOf({ resource, subResource: 'status', name: 'a', dryRun: true, oldObject: somePod }),
    ) as {
      request: unknown;
    };
    const expected = {
      resource: 'injectorconfigs.sidecar-injector.io',
      subResource: 'status',
      name: 'a',
      dryRun: true,
      oldObject: somePod,
    };
    assert.deepEqual(request, podCreation(expected));
  });

  describe('what cannot be answered as a review', () => {
    for (const [what, value, problem] of [
      ['an array', [], 'the body must be an AdmissionReview, not an array'],
      ['null', null, 'the body must be an AdmissionReview, not null'],
      ['a number', 5, 'the body must be an AdmissionReview, not a number'],
      ['no kind', {}, 'kind must be AdmissionReview, not missing'],
      ['another kind', reviewOf({}, { kind: 'Pod' }), 'kind must be AdmissionReview, not "Pod"'],
      ['a kind of another type', reviewOf({}, { kind: {} }), 'kind must be AdmissionReview, not an object'],
      [
        'another version',
        reviewOf({}, { apiVersion: 'admission.k8s.io/v2' }),
        'apiVersion must be admission.k8s.io/v1 or admission.k8s.io/v1beta1, not "admission.k8s.io/v2"',
      ],
      ['no request', reviewOf({}, { request: undefined }), 'request must be an object, not missing'],
      ['a request of another type', reviewOf({}, { request: 'x' }), 'request must be an object, not a string'],
      ['no uid', reviewOf({ uid: undefined }), 'request.uid must be a non-empty string, not missing'],
      ['an empty uid', reviewOf({ uid: '' }), 'request.uid must be a non-empty string, not ""'],
      ['a uid of another type', reviewOf({ uid: true }), 'request.uid must be a non-empty string, not a boolean'],
    ] as const) {
      it(what, () => {
        assert.deepEqual(decode(value), { problem });
      });
    }

    for (const [what, text, problem] of [
      ['text that is cut off', '{"kind":', 'the body is not JSON: it ends too early'],
      ['garbage after the review', '{}xx', 'the body is not JSON: unexpected text at position 2'],
      ['YAML', 'kind: AdmissionReview', 'the body is not JSON: unexpected text'],
    ] as const) {
      it(what, () => {
        assert.deepEqual(decodeAdmissionReview(Buffer.from(text), 50), { problem });
      });
    }

    it('never quotes the body, which may hold secrets', () => {
      const { problem } = decodeAdmissionReview(Buffer.from('{"password": hunter2}'), 50) as { problem: string };
      assert.doesNotMatch(problem, /hunter|password/);
    });
  });

  describe('what is refused as a review', () => {
    for (const [member, value, problem] of [
      ['operation', undefined, 'request.operation must be one of CREATE, UPDATE, DELETE, CONNECT, not missing'],
      ['operation', 'create', 'request.operation must be one of CREATE, UPDATE, DELETE, CONNECT, not "create"'],
      ['operation', ['CREATE'], 'request.operation must be one of CREATE, UPDATE, DELETE, CONNECT, not an array'],
      ['namespace', 5, 'request.namespace must be a string, not a number'],
      ['name', {}, 'request.name must be a string, not an object'],
      ['subResource', [], 'request.subResource must be a string, not an array'],
      ['dryRun', 'true', 'request.dryRun must be a boolean, not a string'],
      ['resource', 'pods', 'request.resource must be an object, not a string'],
      ['resource', { group: 1, resource: 'pods' }, 'request.resource.group must be a string, not a number'],
      ['resource', { resource: null, group: [] }, 'request.resource.group must be a string, not an array'],
      ['resource', { resource: true }, 'request.resource.resource must be a string, not a boolean'],
    ] as const) {
      it(`${member}: ${JSON.stringify(value)}`, () => {
        assert.deepEqual(decode(reviewOf({ [member]: value })), {
          version: 'admission.k8s.io/v1',
          uid: 'uid-1',
          problem,
        });
      });
    }
  });

  describe('deep objects', () => {
    const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;
    for (const [what, request, problem] of [
      ['as deep as may be', { object: { spec: deep(50) }, oldObject: { metadata: { labels: deep(49) } } }, undefined],
      ['too deep', { object: { spec: deep(51) } }, 'request.object.spec nests deeper than 50 levels'],
      [
        'too deep in metadata',
        { object: { metadata: { labels: deep(50) } } },
        'request.object.metadata nests deeper than 50 levels',
      ],
      [
        'metadata that is none',
        { object: { metadata: deep(51) } },
        'request.object.metadata nests deeper than 50 levels',
      ],
      [
        'too deep in the old object',
        { oldObject: { spec: deep(51) } },
        'request.oldObject.spec nests deeper than 50 levels',
      ],
      [
        'too deep where nobody looks',
        { object: { metadata: { managedFields: deep(1000) } }, options: deep(1000) },
        undefined,
      ],
    ] as const) {
      it(what, () => {
        const decoded = decode(reviewOf(request)) as { problem?: string; uid?: string };
        assert.deepEqual([decoded.problem, decoded.uid], [problem, problem === undefined ? undefined : 'uid-1']);
      });
    }
  });

  it('takes the last of duplicate keys, as Go does, and __proto__ for a name like any other', () => {
    const text =
      '{"kind":"Pod","kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","__proto__":{"uid":"no"},' +
      '"request":{"uid":"a","uid":"b","operation":"CREATE","__proto__":{"dryRun":true,"namespace":"kube-system"}}}';
    const { request } = decodeAdmissionReview(Buffer.from(text), 50) as {
      request: { uid: string; dryRun: boolean; namespace: string };
    };
    assert.deepEqual([request.uid, request.dryRun, request.namespace], ['b', false, '']);
    assert.equal(({} as { uid?: string }).uid, undefined);
  });
});
