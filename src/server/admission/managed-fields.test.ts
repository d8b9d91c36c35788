import assert from 'node:assert/strict';
import fc from 'fast-check';
import { withoutManagedFields } from './decode-admission-review.ts';

const fields = [{ manager: 'm', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {} } } } }];

/** A review as Go writes it. */
function reviewOf(metadata: object, spec: object = { containers: [] }): string {
  const object = { kind: 'Pod', apiVersion: 'v1', metadata, spec };
  return JSON.stringify({ request: { uid: 'u', object, oldObject: null, dryRun: false } });
}

describe('withoutManagedFields', () => {
  it('leaves out the last field of the metadata, and nothing else', () => {
    const rest = { name: 'a', labels: { app: 'x' }, ownerReferences: [{ name: 'r' }] };
    assert.equal(withoutManagedFields(reviewOf({ ...rest, managedFields: fields })), reviewOf(rest));
  });

  for (const [what, text] of [
    ['a pod that has none', reviewOf({ name: 'a', finalizers: ['f'] })],
    ['a pod without a specification', '{"object":{"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":[]}}}'],
    ['another kind', reviewOf({ name: 'a', managedFields: fields }).replace('"Pod"', '"Job"')],
    ['another order', reviewOf({ name: 'a', managedFields: fields, labels: {} })],
    ['those of a template within', reviewOf({ name: 'a' }, { metadata: { name: 'b', managedFields: fields } })],
    ['what is no JSON', 'x'],
  ] as const) {
    it(`leaves ${what} as it is`, () => {
      assert.equal(withoutManagedFields(text), text);
    });
  }

  it('is not misled by any text in an annotation', () => {
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
