import assert from 'node:assert/strict';
import { skeletonOf } from './arguments.ts';

const own = new Set(['--level', '--team', '--verbose', '--eval', '--init-file', '--split-string', '-level', 'NS']);
const fixedOf = (args: readonly string[], command: readonly string[] = []): readonly string[] =>
  skeletonOf(args, command, own).fixed;

describe('skeletonOf', () => {
  const free: [title: string, args: string[]][] = [
    ['the value of a flag', ['--level=x; id > /pwned']],
    ['a flag without a value', ['--verbose']],
    ['a word after a flag', ['--team', 'shop']],
    ['an empty text after a flag', ['--team', '']],
    ['a word that ends in a variable reference of the template', ['--team', 'shop.$(NS)']],
    ['several flags', ['--verbose', '--level=a', '--team', 'b', '--level=c']],
  ];
  for (const [title, args] of free) {
    it(`allows ${title}`, () => {
      assert.deepEqual(fixedOf(args), []);
    });
  }

  it('allows numbers and lists of numbers', () => {
    const numbers = ['80', '', '80,443', '10.0.0.0/8', '1_000', '5:6'].map((one) => fixedOf(['-d', one]));
    assert.equal(new Set(numbers.map((fixed) => JSON.stringify(fixed))).size, 1);
    assert.notDeepEqual(fixedOf(['-d', '80']), fixedOf(['-d', 'x']));
  });

  const kept: [title: string, args: string[], command?: string[]][] = [
    ['any other argument', ['x; id']],
    ['a flag that the template does not contain', ['--privileged=true']],
    ['a prefix of the template’s flag', ['--lev=x']],
    ['a flag with one dash', ['-level=x']],
    ['a flag whose value is executed', ['--eval=x', '--init-file=x', '--split-string=x']],
    ['a script', ['-c', '--level=x']],
    ['a script after combined options', ['-ec', '--level=x; id']],
    ['a script after the command', ['--level=x; id'], ['/bin/sh', '-c']],
    ['a program after dashes', ['--', '--verbose'], ['tini']],
    ['arguments that are not flags', ['x; id', '-x', '$(TOKEN)', '/bin/sh']],
  ];
  for (const [title, args, command] of kept) {
    it(`treats ${title} as fixed`, () => {
      assert.deepEqual(fixedOf(args, command), args);
    });
  }

  for (const text of ['x; id', '-x', '$(TOKEN)', '/bin/sh', 'a b', '--unknown']) {
    it(`treats ${text} after a flag as fixed`, () => {
      assert.deepEqual(fixedOf(['--team', text]), [text]);
    });
  }

  for (const program of ['sh', '/bin/bash', 'busybox', '/usr/bin/env', 'python3.12', 'node', 'tini', 'xargs']) {
    it(`treats a word after a flag of ${program} as fixed`, () => {
      assert.deepEqual(fixedOf(['--team', 'evil'], [program]), ['evil']);
      assert.deepEqual(fixedOf([program, '--team', 'evil']), [program, 'evil']);
    });
  }

  it('returns the flags whose presence may differ', () => {
    assert.deepEqual(skeletonOf(['--verbose', 'x', '--level=1'], [], own).flags, ['--verbose', '--level']);
  });
});
