import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { jsonLines } from './response.ts';

async function read(chunks: (string | Buffer)[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const value of jsonLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) found.push(value);
  return found;
}

describe('jsonLines', () => {
  const letter = Buffer.from('{"a":"é"}\n');
  const cases: [what: string, chunks: (string | Buffer)[], expected: unknown[]][] = [
    ['one line', ['{"a":1}\n'], [{ a: 1 }]],
    ['several lines in one chunk', ['1\n2\n3\n'], [1, 2, 3]],
    ['a line over several chunks', ['{"a', '":', '1}\n2', '\n'], [{ a: 1 }, 2]],
    ['a character split over two chunks', [letter.subarray(0, 7), letter.subarray(7)], [{ a: 'é' }]],
    ['a line among empty lines', ['\n\r\n1\n'], [1]],
    ['only complete lines, because a last line without a newline is truncated', ['1\n{"a":2}'], [1]],
    ['nothing', [], []],
  ];
  for (const [what, chunks, expected] of cases) {
    it(`reads ${what}`, async () => {
      assert.deepEqual(await read(chunks), expected);
    });
  }

  it('rejects when a line is not JSON', async () => {
    await assert.rejects(read(['<html>\n']), SyntaxError);
  });
});
