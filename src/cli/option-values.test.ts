import assert from 'node:assert/strict';
import { InvalidArgumentError } from 'commander';
import { parseCount, parseDelimiters, parseFactor, parseIdentity, parsePort, parseSeconds } from './option-values.ts';

const table: [parse: (text: string) => unknown, accepted: [text: string, value: unknown][], refused: string[]][] = [
  [parsePort, [['0', 0], ['65535', 65535]], ['65536', '-1', '1.5', '', 'http']], // prettier-ignore
  [parseIdentity, [['a', 'a'], ['a-1.b', 'a-1.b'], ['a'.repeat(200), 'a'.repeat(200)]], ['', 'A', '-a', 'a.', 'a'.repeat(201)]], // prettier-ignore
  [parseSeconds, [['0', 0], ['0.5', 0.5], ['3600', 3600]], ['3601', '-1', '.5', '', '5s']], // prettier-ignore
  [parseCount, [['1', 1], ['1000000', 1_000_000]], ['0', '1000001', '01', '1.5', '']], // prettier-ignore
  [parseFactor, [['1', 1], ['2.5', 2.5]], ['0.5', '-2', '', 'x']], // prettier-ignore
  [parseDelimiters, [['[[,]]', ['[[', ']]']]], ['', '[[', '[[,', ',]]', '[[,]],x']], // prettier-ignore
];

describe('values of options', () => {
  for (const [parse, accepted, refused] of table) {
    for (const [text, value] of accepted) {
      it(`${parse.name} accepts ${text.slice(0, 20)}`, () => {
        assert.deepEqual(parse(text), value);
      });
    }
    for (const text of refused) {
      it(`${parse.name} refuses ${JSON.stringify(text.slice(0, 20))}`, () => {
        assert.throws(() => parse(text), InvalidArgumentError);
      });
    }
  }
});
