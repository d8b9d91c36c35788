import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeFileError, readNamedFile, writeNamedFile } from './files.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

describe('files of the command line', () => {
  let folder: string;
  let out: string;
  const made: Pick<Terminal, 'out' | 'readInput'> = {
    out: (text) => {
      out += text;
    },
    readInput: () => Promise.resolve('typed'),
  };
  const terminal = made as Terminal;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'files-'));
    out = '';
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('writes a file and reads it; - and nothing are the terminal', async () => {
    const file = join(folder, 'a');
    writeNamedFile(terminal, '--output', file, 'text');
    assert.equal(await readNamedFile(terminal, '--filename', file), 'text');
    assert.equal(readFileSync(file, 'utf8'), 'text');
    writeNamedFile(terminal, '--output', '-', 'one ');
    writeNamedFile(terminal, '--output', undefined, 'two');
    assert.equal(out, 'one two');
    assert.equal(await readNamedFile(terminal, '--filename', '-'), 'typed');
  });

  it('names the option, the file and the reason', async () => {
    const inNothing = join(folder, 'none', 'a');
    const refused = (message: string) => (error: unknown) => error instanceof UsageError && error.message === message;
    assert.throws(
      () => {
        writeNamedFile(terminal, '--output', inNothing, 'x');
      },
      refused(`--output ${inNothing}: no such file`),
    );
    await assert.rejects(
      readNamedFile(terminal, '--filename', folder),
      refused(`--filename ${folder}: is a directory, a file is needed`),
    );
  });

  const errors: [error: unknown, words: string][] = [
    [Object.assign(new Error('x'), { code: 'EACCES' }), 'permission denied'],
    [Object.assign(new Error('too many'), { code: 'EMFILE' }), 'too many'],
    ['a text', 'a text'],
  ];
  for (const [error, words] of errors) {
    it(`in words: ${words}`, () => {
      assert.equal(describeFileError(error), words);
    });
  }
});
