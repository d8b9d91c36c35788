import assert from 'node:assert/strict';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { PassMemory } from './pass-context.ts';
import { type RefusalMemory, Refusals, type RefusalTopic } from './refusals.ts';
import { RevisionEvents } from './revision-events.ts';

describe('Refusals', () => {
  it('reports a refusal once per topic, and again after it had ended', () => {
    const notes: string[] = [];
    const logger = capturingLogger();
    const memory = new PassMemory<RefusalMemory>();
    const refusals = new Refusals(
      new RevisionEvents({ record: (_object, { note }) => notes.push(note) }),
      logger,
      memory,
    );
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'blue' } };
    const refuse = (topic: RefusalTopic, message: string) =>
      refusals.report(object, topic, { reason: 'Overlap', message });
    assert.equal(refuse('Configuration', 'bad template'), true);
    refuse('Certificate', 'bad policy');
    assert.equal(refuse('Configuration', 'bad template'), false);
    assert.equal(refusals.report(object, 'Certificate'), false);
    refuse('Configuration', 'bad template');
    refuse('Certificate', 'bad policy');
    refuse('Configuration', 'worse template');
    memory.forget('blue');
    refuse('Configuration', 'worse template');
    assert.deepEqual(notes, ['bad template', 'bad policy', 'bad policy', 'worse template', 'worse template']);
    assert.equal(logger.lines.length, 5);
  });
});
