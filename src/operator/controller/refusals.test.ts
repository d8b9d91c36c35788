import assert from 'node:assert/strict';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { Refusals } from './refusals.ts';
import { RevisionEvents } from './revision-events.ts';

describe('Refusals', () => {
  it('reports a refusal once per topic, and again after it had ended', () => {
    const notes: string[] = [];
    const logger = capturingLogger();
    const refusals = new Refusals(new RevisionEvents({ record: (_object, { note }) => notes.push(note) }), logger);
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'blue' } };
    refusals.refuse(object, 'Configuration', 'Overlap', 'bad template');
    refusals.refuse(object, 'Certificate', 'Overlap', 'bad policy');
    refusals.refuse(object, 'Configuration', 'Overlap', 'bad template');
    refusals.settled('blue', 'Certificate');
    refusals.refuse(object, 'Configuration', 'Overlap', 'bad template');
    refusals.refuse(object, 'Certificate', 'Overlap', 'bad policy');
    refusals.refuse(object, 'Configuration', 'Overlap', 'worse template');
    refusals.forget('blue');
    refusals.refuse(object, 'Configuration', 'Overlap', 'worse template');
    assert.deepEqual(notes, ['bad template', 'bad policy', 'bad policy', 'worse template', 'worse template']);
    assert.equal(logger.lines.length, 5);
  });
});
