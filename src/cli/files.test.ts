import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describeFileError, readNamedFile, writeNamedFile } from './files.ts';
import { recordingTerminal } from './testdata/recording-terminal.ts';
import { temporaryFolder } from './testdata/temporary-folder.ts';
import { UsageError } from './terminal.ts';

describe('files of the command line', () => {
  const { path } = temporaryFolder();
  const { terminal, seen } = recordingTerminal('typed');

  it('reads and writes files, and uses the terminal if the name is - or missing', async () => {
    const file = path('a');
    writeNamedFile(terminal, '--output', file, 'text');
    assert.equal(await readNamedFile(terminal, '--filename', file), 'text');
    assert.equal(readFileSync(file, 'utf8'), 'text');
    writeNamedFile(terminal, '--output', '-', 'one ');
    writeNamedFile(terminal, '--output', undefined, 'two');
    assert.equal(seen().out, 'one two');
    assert.equal(await readNamedFile(terminal, '--filename', '-'), 'typed');
  });

  it('reports the option, the file and the reason', async () => {
    const inNothing = path('none', 'a');
    const refused = (message: string) => (error: unknown) => error instanceof UsageError && error.message === message;
    assert.throws(
      () => {
        writeNamedFile(terminal, '--output', inNothing, 'x');
      },
      refused(`--output ${inNothing}: its directory does not exist`),
    );
    assert.throws(
      () => writeNamedFile(terminal, '-o', 'yaml', 'x'),
      refused('-o yaml: names a file, not a format; use ./yaml for this file name'),
    );
    await assert.rejects(
      readNamedFile(terminal, '--filename', path()),
      refused(`--filename ${path()}: is a directory, not a file`),
    );
  });

  const errors: [error: unknown, words: string][] = [
    [Object.assign(new Error('x'), { code: 'EACCES' }), 'permission denied; change its mode, or name another file'],
    [Object.assign(new Error('too many'), { code: 'EMFILE' }), 'too many'],
    ['a text', 'a text'],
  ];
  for (const [error, message] of errors) {
    it(`describes an error as: ${message}`, () => {
      assert.equal(describeFileError(error), message);
    });
  }
});
