import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { replaceFiles } from './replace-files.ts';
import { temporaryFolder } from './testdata/temporary-folder.ts';

describe('files that are replaced together', () => {
  const { path, write } = temporaryFolder();
  const names = ['ca.crt', 'tls.crt', 'tls.key'];
  const files = names.map((name) => ({ name, text: 'new', mode: name === 'tls.key' ? 0o600 : 0o644 }));
  const replace = (rename = renameSync): void =>
    replaceFiles(path('f'), files, (size) => Buffer.alloc(size, 0xab), rename);
  const content = (): [string, string][] =>
    readdirSync(path('f')).map((name) => [name, readFileSync(path('f', name), 'utf8')]);
  const all = (text: string): [string, string][] => names.map((name) => [name, text]);
  beforeEach(() => {
    rmSync(path('f'), { recursive: true, force: true });
    mkdirSync(path('f'));
    for (const name of names) write(`f/${name}`, 'old');
  });

  for (const umask of [0, 0o22, 0o77, 0o777]) {
    it(`have their modes with umask ${umask.toString(8)}, whatever their modes were`, () => {
      const before = process.umask(umask);
      try {
        replace();
      } finally {
        process.umask(before);
      }
      assert.deepEqual(content(), all('new'));
      for (const { name, mode } of files) assert.equal(lstatSync(path('f', name)).mode & 0o777, mode);
    });
  }

  it('replace links, and leave the targets of these alone', () => {
    for (const name of names) {
      rmSync(path('f', name));
      symlinkSync(write('target', 'target'), path('f', name));
    }
    replace();
    assert.deepEqual(content(), all('new'));
    for (const name of names) assert.ok(!lstatSync(path('f', name)).isSymbolicLink());
    assert.equal(readFileSync(path('target'), 'utf8'), 'target');
  });

  it('follow no link, even if an attacker knows the random name', () => {
    symlinkSync(write('target', 'target'), path('f', `.tls.key.${'ab'.repeat(8)}`));
    assert.throws(() => replace(), /EEXIST/);
    assert.deepEqual(content().slice(1), all('old'));
    assert.equal(readFileSync(path('target'), 'utf8'), 'target');
  });

  for (const name of names) {
    it(`stay whole if ${name} is a folder`, () => {
      rmSync(path('f', name));
      mkdirSync(path('f', name));
      assert.throws(() => replace(), new RegExp(`f/${name} is a directory; remove it`));
      assert.deepEqual(readdirSync(path('f')), names);
    });
  }

  it('stay whole if any move fails, and are never a pair of old and new', () => {
    for (let failing = 1; failing <= 7; failing += 1) {
      let moves = 0;
      const rename: typeof renameSync = (from, to) => {
        moves += 1;
        if (moves === failing) throw new Error('planned');
        renameSync(from, to);
        const pair = content().filter(([name]) => /^tls/.test(name));
        assert.ok(new Set(pair.map(([, text]) => text)).size <= 1);
      };
      if (failing === 7) replace(rename);
      else assert.throws(() => replace(rename), /planned/);
      assert.deepEqual(content(), all(failing === 7 ? 'new' : 'old'));
    }
  });
});
