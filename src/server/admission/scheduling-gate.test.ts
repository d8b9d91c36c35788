import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyJsonPatch } from '../../inject/patch/testdata/apply-json-patch.ts';
import { removeGate } from './inject-handler.ts';

describe('removeGate', () => {
  it('removes exactly the entries of the gate, in any list', () => {
    const entry = fc.oneof(
      fc.constantFrom({ name: 'mine' }, { name: 'other' }, { name: 'third' }),
      fc.constantFrom(null, 'mine', 1, {}, []),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (schedulingGates) => {
        const pod = { spec: { containers: [], schedulingGates } };
        const result = applyJsonPatch(pod, removeGate(pod, 'mine')) as typeof pod;
        const isMine = (each: unknown): boolean => (each as { name?: string } | null)?.name === 'mine';
        assert.deepEqual(
          result.spec.schedulingGates,
          schedulingGates.filter((each) => !isMine(each)),
        );
      }),
    );
  });

  for (const pod of [{}, { spec: null }, { spec: {} }, { spec: { schedulingGates: 'mine' } }]) {
    it(`changes nothing in ${JSON.stringify(pod)}`, () => assert.deepEqual(removeGate(pod, 'mine'), []));
  }

  it('changes nothing if there is no gate to remove', () =>
    assert.deepEqual(removeGate({ spec: { schedulingGates: [{ name: 'mine' }] } }, undefined), []));
});
