import assert from 'node:assert/strict';
import { badArgument, badPatchType, formatGo } from './merge-error.ts';

describe('merge errors', () => {
  it('print values like Go', () => {
    const cases: [unknown, string][] = [
      [null, '<nil>'],
      ['text', 'text'],
      [5, '5'],
      [1.5, '1.5'],
      [true, 'true'],
      [[1, 'a', null], '[1 a <nil>]'],
      [{ b: [], a: { c: 1 } }, 'map[a:map[c:1] b:[]]'],
      // Go compares bytes: U+FFFF sorts before characters beyond the basic plane.
      [{ '😀': 1, '\uffff': 2 }, 'map[\uffff:2 😀:1]'],
    ];
    for (const [value, text] of cases) assert.equal(formatGo(value), text);
  });

  it('name the type of the value', () => {
    const cases: [unknown, string][] = [
      ['x', 'string'],
      [1, 'int64'],
      [1.5, 'float64'],
      [true, 'bool'],
      [null, '%!s(<nil>)'],
      [[], '[]interface {}'],
      [{}, 'map[string]interface {}'],
    ];
    for (const [value, type] of cases) {
      assert.equal(badArgument('list', value).message, `expected a []interface {}, but received a ${type}`);
    }
  });

  it('print non-string directives like the verb %s', () => {
    const cases: [unknown, string][] = [
      ['other', 'other'],
      [5, '%!s(int64=5)'],
      [1.5, '%!s(float64=1.500000)'],
      [true, '%!s(bool=true)'],
      [null, '%!s(<nil>)'],
      [['a', 1], '[a %!s(int64=1)]'],
      [{ b: 'x', a: true }, 'map[a:%!s(bool=true) b:x]'],
    ];
    for (const [directive, text] of cases) {
      assert.equal(badPatchType(directive, {}).message, `unknown patch type: ${text} in map: map[]`);
    }
  });
});
