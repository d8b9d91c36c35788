import assert from 'node:assert/strict';
import fc from 'fast-check';
import { withoutManagedFields } from './decode-admission-review.ts';

const fields = [{ manager: 'm', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {} } } } }];

/** Returns a review in the format of Go's encoder. */
function reviewOf(metadata: object, spec: object = { containers: [] }): string {
  const object = { kind: 'Pod', apiVersion: 'v1', metadata, spec };
  return JSON.stringify({ request: { uid: 'u', object, oldObject: null, dryRun: false } });
}

describe('withoutManagedFields', () => {
  it('removes only the last field of the metadata', () => {
    const rest = { name: 'a', labels: { app: 'x' }, ownerReferences: [{ name: 'r' }] };
    assert.equal(withoutManagedFields(reviewOf({ ...rest, managedFields: fields })), reviewOf(rest));
  });

  for (const [what, text] of [
    ['a pod without managedFields', reviewOf({ name: 'a', finalizers: ['f'] })],
    ['a pod without a spec', '{"object":{"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":[]}}}'],
    ['an object of another kind', reviewOf({ name: 'a', managedFields: fields }).replace('"Pod"', '"Job"')],
    ['metadata with another order', reviewOf({ name: 'a', managedFields: fields, labels: {} })],
    ['managedFields of a nested object', reviewOf({ name: 'a' }, { metadata: { name: 'b', managedFields: fields } })],
    ['text that is not JSON', 'x'],
  ] as const) {
    it(`does not change ${what}`, () => {
      assert.equal(withoutManagedFields(text), text);
    });
  }

  it('ignores the search marks in an annotation', () => {
    const mark = fc.constantFrom(',"managedFields":[', '},"spec":{', ']},"spec":{', '"metadata":{', '\\', '"', 'x');
    const texts = fc.array(mark).map((marks) => marks.join(''));
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const rest = { name: 'a', annotations: { [one]: other, b: one } };
        const text = reviewOf({ ...rest, managedFields: [{ manager: other }] }, { nodeName: one });
        assert.deepEqual(JSON.parse(withoutManagedFields(text)), JSON.parse(reviewOf(rest, { nodeName: one })));
      }),
    );
  });
});
