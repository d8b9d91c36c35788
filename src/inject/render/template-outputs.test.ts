import assert from 'node:assert/strict';
import { TemplateOutputs } from './template-outputs.ts';

describe('TemplateOutputs', () => {
  it('reads a text once', () => {
    const outputs = new TemplateOutputs();
    const first = outputs.read('metadata: {labels: {a: b}}');
    assert.deepEqual(first?.content, { metadata: { labels: { a: 'b' } } });
    assert.equal(outputs.read('metadata: {labels: {a: b}}'), first);
    assert.equal(first.onEmptyPod(), first.onEmptyPod());
    assert.deepEqual(first.onEmptyPod().metadata, { labels: { a: 'b' } });
  });

  it('forgets the text that was not used for longest', () => {
    const outputs = new TemplateOutputs();
    const [kept, forgotten] = [outputs.read('kept: 1'), outputs.read('forgotten: 1')];
    for (let index = 0; index < 31; index += 1) {
      outputs.read('kept: 1');
      outputs.read(`other: ${index}`);
    }
    assert.equal(outputs.read('kept: 1'), kept);
    assert.notEqual(outputs.read('forgotten: 1'), forgotten);
    assert.deepEqual([...outputs.all().keys()].slice(-2), ['other: 29', 'kept: 1'], 'four of those used once');
    assert.equal(outputs.all().size, 5);
  });

  it('tells what it remembers without remembering it longer', () => {
    const outputs = new TemplateOutputs();
    const told = outputs.read('told: 1');
    assert.equal(outputs.known('told: 1'), told);
    outputs.read('other: 0');
    assert.equal(outputs.known('told: 1'), told);
    assert.equal(outputs.known('unknown: 1'), undefined);
    for (let index = 1; index < 32; index += 1) {
      outputs.known('told: 1');
      outputs.read(`other: ${index}`);
    }
    assert.equal(outputs.known('told: 1'), undefined);
  });

  it('does not remember long texts', () => {
    const outputs = new TemplateOutputs();
    const text = `long: ${'x'.repeat(70_000)}`;
    assert.notEqual(outputs.read(text), outputs.read(text));
  });

  it('has no members for comments, and nothing for what is no object', () => {
    const outputs = new TemplateOutputs();
    assert.deepEqual(outputs.read('# a comment\n')?.content, {});
    assert.deepEqual(outputs.read('')?.content, {});
    assert.equal(outputs.read('text'), undefined);
    assert.throws(() => outputs.read('a: ['), { name: 'YamlError' });
  });
});
