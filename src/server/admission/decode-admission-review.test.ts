import assert from 'node:assert/strict';
import { decodeAdmissionReview, valuesWithin } from './decode-admission-review.ts';
import { bytesOf, podCreation, reviewOf, somePod } from '../testdata/reviews.ts';

const decode = (value: unknown): unknown => decodeAdmissionReview(bytesOf(value), 50);

describe('decodeAdmissionReview', () => {
  it('decodes a review of v1', () => {
    assert.deepEqual(decode(reviewOf()), { version: 'admission.k8s.io/v1', values: 11, request: podCreation() });
  });

  it('decodes a review of v1beta1, and omitted fields as empty', () => {
    const version = 'admission.k8s.io/v1beta1';
    const review = { kind: 'AdmissionReview', apiVersion: version, request: { uid: 'u', operation: 'DELETE' } };
    assert.deepEqual(decode(review), {
      version,
      values: 0,
      request: podCreation({ uid: 'u', resource: undefined, namespace: '', operation: 'DELETE', object: null }),
    });
  });

  it('reads half of a surrogate pair as Go does, and leaves other escapes', () => {
    const text = JSON.stringify(reviewOf()).replace('"uid":"', String.raw`"uid":"\ud83d\ude00\\ud800\uDC00x\ud800`);
    assert.match(
      JSON.stringify(decodeAdmissionReview(Buffer.from(text), 50)),
      /"uid":"\u{1f600}\\\\ud800\ufffdx\ufffd/u,
    );
  });

  it('names the resource with its group', () => {
    const resource = { group: 'sidecar-injector.io', version: 'v1alpha1', resource: 'injectorconfigs' };
    const others = { subResource: 'status', name: 'a', dryRun: true, oldObject: somePod };
    const { request } = decode(reviewOf({ resource, ...others })) as { request: unknown };
    assert.deepEqual(request, podCreation({ resource: 'injectorconfigs.sidecar-injector.io', ...others }));
  });

  describe('returns only a problem for', () => {
    const versions = 'admission.k8s.io/v1 or admission.k8s.io/v1beta1';
    const v2 = 'admission.k8s.io/v2';
    for (const [what, value, problem] of [
      ['an array', [], 'the body must be an AdmissionReview, not an array'],
      ['null', null, 'the body must be an AdmissionReview, not null'],
      ['a number', 5, 'the body must be an AdmissionReview, not a number'],
      ['a missing kind', {}, 'kind must be AdmissionReview, not missing'],
      ['another kind', reviewOf({}, { kind: 'Pod' }), 'kind must be AdmissionReview, not "Pod"'],
      ['a kind of another type', reviewOf({}, { kind: {} }), 'kind must be AdmissionReview, not an object'],
      ['another version', reviewOf({}, { apiVersion: v2 }), `apiVersion must be ${versions}, not "${v2}"`],
      ['a missing request', reviewOf({}, { request: undefined }), 'request must be an object, not missing'],
      ['a request of another type', reviewOf({}, { request: 'x' }), 'request must be an object, not a string'],
      ['a missing uid', reviewOf({ uid: undefined }), 'request.uid must be a non-empty string, not missing'],
      ['an empty uid', reviewOf({ uid: '' }), 'request.uid must be a non-empty string, not ""'],
      ['a uid of another type', reviewOf({ uid: true }), 'request.uid must be a non-empty string, not a boolean'],
    ] as const) {
      it(what, () => {
        assert.deepEqual(decode(value), { problem });
      });
    }

    for (const [what, text, problem] of [
      ['truncated text', '{"kind":', 'the body is not JSON: it ends too early'],
      ['garbage after the review', '{}xx', 'the body is not JSON: unexpected text at position 2'],
      ['YAML', 'kind: AdmissionReview', 'the body is not JSON: unexpected text'],
    ] as const) {
      it(what, () => {
        assert.deepEqual(decodeAdmissionReview(Buffer.from(text), 50), { problem });
      });
    }

    it('a body with a secret, and does not quote the body', () => {
      const { problem } = decodeAdmissionReview(Buffer.from('{"password": hunter2}'), 50) as { problem: string };
      assert.doesNotMatch(problem, /hunter|password/);
    });
  });

  describe('returns a problem, the version and the uid for', () => {
    const operation = 'request.operation must be one of CREATE, UPDATE, DELETE, CONNECT';
    for (const [member, value, problem] of [
      ['operation', undefined, `${operation}, not missing`],
      ['operation', 'create', `${operation}, not "create"`],
      ['operation', ['CREATE'], `${operation}, not an array`],
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
        const expected = { version: 'admission.k8s.io/v1', uid: 'uid-1', problem };
        assert.deepEqual(decode(reviewOf({ [member]: value })), expected);
      });
    }
  });

  describe('checks the depth of objects:', () => {
    const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;
    const unread = { object: { metadata: { managedFields: deep(1000) } }, options: deep(1000) };
    for (const [what, request, member] of [
      ['accepts 50 levels', { object: { spec: deep(50) }, oldObject: { metadata: { labels: deep(49) } } }, undefined],
      ['refuses a spec that is too deep', { object: { spec: deep(51) } }, 'object.spec'],
      ['refuses labels that are too deep', { object: { metadata: { labels: deep(50) } } }, 'object.metadata'],
      ['refuses metadata of another type that is too deep', { object: { metadata: deep(51) } }, 'object.metadata'],
      ['refuses an old object that is too deep', { oldObject: { spec: deep(51) } }, 'oldObject.spec'],
      ['ignores managedFields and other fields that are not read', unread, undefined],
    ] as const) {
      it(what, () => {
        const problem = member && `request.${member} nests deeper than 50 levels`;
        const decoded = decode(reviewOf(request)) as { problem?: string; uid?: string };
        assert.deepEqual([decoded.problem, decoded.uid], [problem, problem === undefined ? undefined : 'uid-1']);
      });
    }
  });

  it('uses the last of duplicate keys, as Go does, and treats __proto__ as an ordinary key', () => {
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

describe('valuesWithin', () => {
  for (const [json, depth, values] of [
    ['1', 0, 1],
    ['null', 0, 1],
    ['"{{{"', 0, 1],
    ['{}', 1, 1],
    ['[[],1,[]]', 2, 4],
    ['{"a":1,"b":{"c":[1]}}', 3, 5],
    ['{"__proto__":{"a":{}}}', 3, 3],
  ] as const) {
    it(`finds depth ${depth} and ${values} values in ${json}`, () => {
      const value: unknown = JSON.parse(json);
      assert.equal(valuesWithin(depth, value), values);
      if (depth > 0) assert.equal(valuesWithin(depth - 1, value), Infinity);
    });
  }

  it('does not exhaust the stack', () => {
    const deep: unknown = JSON.parse('['.repeat(60_000) + ']'.repeat(60_000));
    assert.equal(valuesWithin(200, deep), Infinity);
  });
});
