import assert from 'node:assert/strict';
import fc from 'fast-check';
import { benignCounterpart, harmlessPiece, isHarmless, isHarmlessImage, otherLetters } from './harmless-text.ts';

describe('harmless texts', () => {
  for (const text of ['', 'a', '15020', '100m', 'example.com/team', 'a_b-c', 'true', 'v1.2.3']) {
    it(`${JSON.stringify(text)} is harmless`, () => {
      assert.equal(isHarmless(text), true);
    });
  }
  const odd = ['a b', 'a\n', '\u2028', '\0', ...'null NULL ~ a: :a a,b -a a- .5 "a" &a *a #a {a} é'.split(' ')];
  for (const text of odd) {
    it(`${JSON.stringify(text)} is not harmless`, () => {
      assert.equal(isHarmless(text), false);
      assert.equal(isHarmlessImage(text), false);
    });
  }

  it('accepts images with a tag and a digest', () => {
    const good = ['web', 'web:1', 'registry.example/mesh/web:1.2-a', 'web@sha256:0a', 'web:1@sha256:0a'];
    const refused = good.filter((text) => !isHarmlessImage(text));
    assert.deepEqual(refused, []);
    const bad = ['web:', 'web: 1', 'web:1\n', ':1', '-web:1', 'web@', 'web:1:2'];
    assert.deepEqual(bad.filter(isHarmlessImage), []);
  });

  const counterparts: [text: string, counterpart: string][] = [
    ['80,443', '80_443'],
    ['a b', 'a_b'],
    ['-a-', '_a_'],
    ['a/b: c', 'a/b__c'],
    ['null', 'nul_'],
    ['"\n', '__'],
    ['../x', '__/x'],
  ];
  for (const [text, counterpart] of counterparts) {
    it(`${JSON.stringify(text)} has the counterpart ${counterpart}`, () => {
      assert.equal(benignCounterpart(text), counterpart);
    });
  }

  it('benignCounterpart is idempotent and returns only plain characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const counterpart = benignCounterpart(text);
        assert.match(counterpart, /^[\w./-]*$/);
        assert.equal(benignCounterpart(counterpart), counterpart);
      }),
    );
  });

  it('harmlessPiece returns the longest harmless substring', () => {
    assert.deepEqual(['a,bcd,e', '"', 'null', 'a "null"'].map(harmlessPiece), ['bcd', 'x', 'x', 'x']);
  });

  it('otherLetters replaces all letters and digits', () => {
    assert.deepEqual(['azAZ09', '_', ''].map(otherLetters), ['baBA11', 'x_', 'x']);
  });
});
