import assert from 'node:assert/strict';
import { TemplateOutputs } from './template-outputs.ts';

describe('TemplateOutputs', () => {
  it('parses a text once', () => {
    const outputs = new TemplateOutputs();
    const first = outputs.read('metadata: {labels: {a: b}}');
    assert.deepEqual(first?.content, { metadata: { labels: { a: 'b' } } });
    assert.equal(outputs.read('metadata: {labels: {a: b}}'), first);
    assert.equal(first.onEmptyPod(), first.onEmptyPod());
    assert.deepEqual(first.onEmptyPod().metadata, { labels: { a: 'b' } });
  });

  it('evicts the least recently used text', () => {
    const outputs = new TemplateOutputs();
    const [kept, forgotten] = [outputs.read('kept: 1'), outputs.read('forgotten: 1')];
    for (let index = 0; index < 31; index += 1) {
      outputs.read('kept: 1');
      outputs.read(`other: ${index}`);
    }
    assert.equal(outputs.read('kept: 1'), kept);
    assert.notEqual(outputs.read('forgotten: 1'), forgotten);
    assert.deepEqual(
      [...outputs.all().keys()].slice(-2),
      ['other: 29', 'kept: 1'],
      'keeps four texts that were used once',
    );
    assert.equal(outputs.all().size, 5);
  });

  it('known returns a cached text without refreshing it', () => {
    const outputs = new TemplateOutputs();
    const cached = outputs.read('cached: 1');
    assert.equal(outputs.known('cached: 1'), cached);
    outputs.read('other: 0');
    assert.equal(outputs.known('cached: 1'), cached);
    assert.equal(outputs.known('unknown: 1'), undefined);
    for (let index = 1; index < 32; index += 1) {
      outputs.known('cached: 1');
      outputs.read(`other: ${index}`);
    }
    assert.equal(outputs.known('cached: 1'), undefined);
  });

  it('does not cache long texts', () => {
    const outputs = new TemplateOutputs();
    const text = `long: ${'x'.repeat(70_000)}`;
    assert.notEqual(outputs.read(text), outputs.read(text));
  });

  it('returns an empty object for comments, and undefined for anything but an object', () => {
    const outputs = new TemplateOutputs();
    assert.deepEqual(outputs.read('# a comment\n')?.content, {});
    assert.deepEqual(outputs.read('')?.content, {});
    assert.equal(outputs.read('text'), undefined);
    assert.throws(() => outputs.read('a: ['), { name: 'YamlError' });
  });
});
