import assert from 'node:assert/strict';
import { ConfigurationError } from '../api/errors.ts';
import { valuesJson } from './values-json.ts';

const field = 'spec.injection.valuesFrom';

/** Seven lists, each of which contains the previous list nine times. */
const nine = (item: string): string => `[${Array(9).fill(item).join()}]`;
const names = 'abcdefg';
const lists = Array.from(
  { length: 7 },
  (_, at) => `${names[at]}: &${names[at]} ${nine(at === 0 ? 'x' : `*${names[at - 1]}`)}`,
);
const bomb = `${lists.join('\n')}\n`;

describe('valuesJson', () => {
  it('returns JSON unchanged', () => {
    const text = ' {"b": 1.0, "a": 12345678901234567890}\n';
    assert.equal(valuesJson(text, field), text);
  });

  for (const [title, text, expected] of [
    ['a map', 'b: 1\na:\n- x\n', { a: ['x'], b: 1 }],
    ['an empty text', '', {}],
    ['only comments', '# nothing here\n', {}],
    ['the booleans of YAML 1.1', 'a: yes\nb: Off\nc: "no"\n', { a: true, b: false, c: 'no' }],
    ['sexagesimal numbers as strings', 'time: 1:30\nseconds: 1:30.5\n', { time: '1:30', seconds: '1:30.5' }],
    ['dates as strings', 'date: 2026-01-02\n', { date: '2026-01-02' }],
    ['an anchor and an alias', 'a: &x {k: v}\nb: *x\n', { a: { k: 'v' }, b: { k: 'v' } }],
    ['a merge key', 'a: &x {k: v}\nb: {<<: *x, l: w}\n', { a: { k: 'v' }, b: { k: 'v', l: 'w' } }],
  ] as const) {
    it(`reads YAML: ${title}`, () => {
      assert.deepEqual(JSON.parse(valuesJson(text, field)), expected);
    });
  }

  for (const [title, text, message] of [
    ['a list', '[1]', /must be a JSON or YAML map, found a list/],
    ['null', 'null', /found nothing/],
    ['a number', '7', /found a number/],
    ['a string', 'hello', /found a string/],
    ['invalid YAML', 'a: [1', /neither JSON nor YAML: .* line 1/],
    ['two documents', 'a: 1\n---\nb: 2\n', /neither JSON nor YAML/],
    ['an alias bomb', bomb, /neither JSON nor YAML: .*alias/i],
    ['long YAML', 'key: value\n'.repeat(6000), /may have at most 65536 characters, found 66000; write/],
  ] as const) {
    it(`refuses ${title}`, () => {
      assert.throws(
        () => valuesJson(text, field),
        (error) => error instanceof ConfigurationError && error.field === field && message.test(error.message),
      );
    });
  }
});
