import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { parseDocuments, readDocuments, yamlOptions } from './read-documents.ts';

describe('documents of a YAML file', () => {
  it('have the equal keys that the library finds', () => {
    const keys = [
      'a',
      '"a"',
      '1',
      '01',
      '"1"',
      'null',
      '~',
      '<<',
      '? [a]\n',
      '{a: 1, a: 2}',
      '[a: 1, b: 2]',
      '!!str a',
    ];
    const values = [
      '1',
      '{a: 1, "a": 2}',
      '[a: 1, {b: 1, b: 2}]',
      '{? a, ? a}',
      '\n  a: 1\n  b: 2\n  a: 3',
      '&x y',
      '*x',
    ];
    const entry = fc.tuple(fc.constantFrom(...keys), fc.constantFrom(...values)).map((pair) => pair.join(': '));
    const positions = (documents: ReturnType<typeof parseDocuments>): number[] =>
      documents.flatMap(({ errors }) => errors.filter(({ code }) => code === 'DUPLICATE_KEY').map(({ pos }) => pos[0]));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
        const text = entries.join('\n');
        const expected = positions([...parseAllDocuments(text, { ...yamlOptions, uniqueKeys: true })]);
        assert.deepEqual(positions(parseDocuments(text)).sort(), expected.sort());
      }),
    );
  });

  it('may have many keys and many errors', () => {
    // With the library's own search or excerpts, 100,000 of them take minutes.
    assert.deepEqual([yamlOptions.uniqueKeys, yamlOptions.prettyErrors], [false, false]);
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`);
    assert.deepEqual(parseDocuments(keys.join(''))[0]?.errors, []);
    const text = `a: 1\n---\nb: "${'\\x'.repeat(20_000)}"\n`;
    assert.throws(() => readDocuments(text), /^Error: line 3, column 5: Invalid escape sequence \\x\\x$/);
  });

  it('may have fewer than 5000 anchors and aliases', () => {
    const text = (count: number): string => `[&a b${', *a, &c d'.repeat(count / 2)}]`;
    assert.equal(readDocuments(text(4998)).length, 1);
    assert.throws(() => readDocuments(text(5000)), /line 1, column \d+: A document may have fewer than 5000 anchors/);
  });
});
