import assert from 'node:assert/strict';
import { namespaceIn, splitReview } from './review-bytes.ts';
import { bytesOf, reviewOf } from '../testdata/reviews.ts';

const uid = '705ab4f5-6393-11e8-b7cc-42010a800002';

describe('splitReview', () => {
  for (const version of ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1']) {
    it(`returns the uid of an ${version} review, and the bytes after the uid`, () => {
      const body = bytesOf(reviewOf({ uid }, { apiVersion: version }));
      const split = splitReview(body);
      assert.deepEqual([split?.version, split?.uid], [version, uid]);
      assert.match(split?.rest.toString() ?? '', /^","kind":\{/);
    });
  }

  const start = '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"';
  for (const [what, text] of [
    ['an empty body', ''],
    ['a review that ends before its uid', start],
    ['a review that ends in its uid', `${start}${uid.slice(1)}`],
    ['a review that ends after its uid', `${start}${uid}`],
    ['another version', `${start.replace('v1', 'v2')}${uid}","object":{}}}`],
    ['another order', JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid } })],
    ['whitespace', `${start.replace(':', ': ')}${uid}","object":{}}}`],
    ['a uid that is not a UUID', `${start}${uid.replace('7', 'x')}","object":{}}}`],
    ['a uid with an escape', `${start}\\u0037${uid.slice(6)}","object":{}}}`],
    ['a uid that is too long', `${start}${uid}0","object":{}}}`],
  ] as const) {
    it(`returns undefined for ${what}`, () => {
      assert.equal(splitReview(Buffer.from(text)), undefined);
    });
  }
});

describe('namespaceIn', () => {
  it('returns the namespace of the request, whatever the names and labels of the pod', () => {
    const labels = { namespace: 'evil', 'x","namespace":"evil': 'x","namespace":"evil' };
    for (const name of ['', 'namespace', 'x","namespace":"evil']) {
      const request = { uid, name, namespace: 'shop', object: { metadata: { name, namespace: 'evil', labels } } };
      assert.equal(namespaceIn(bytesOf({ kind: 'AdmissionReview', request })), 'shop');
    }
    assert.equal(namespaceIn(bytesOf({ request: { padding: 'x'.repeat(5000), namespace: 'shop' } })), '');
  });
});
