import assert from 'node:assert/strict';
import { skeletonOf } from './arguments.ts';

const own = new Set(['--level', '--team', '--verbose', '--eval', '--init-file', '--split-string', '-level', 'NS']);
const fixedOf = (args: readonly string[], command: readonly string[] = []): readonly string[] =>
  skeletonOf(args, command, own).fixed;

describe('what of arguments an author may change', () => {
  const free: [title: string, args: string[]][] = [
    ['the value of a flag', ['--level=x; id > /pwned']],
    ['a flag without a value', ['--verbose']],
    ['a word behind a flag', ['--team', 'shop']],
    ['nothing behind a flag', ['--team', '']],
    ['a word that ends in a variable of the template', ['--team', 'shop.$(NS)']],
    ['several', ['--verbose', '--level=a', '--team', 'b', '--level=c']],
  ];
  for (const [title, args] of free) {
    it(title, () => {
      assert.deepEqual(fixedOf(args), []);
    });
  }

  it('numbers, and lists of them', () => {
    const numbers = ['80', '', '80,443', '10.0.0.0/8', '1_000', '5:6'].map((one) => fixedOf(['-d', one]));
    assert.equal(new Set(numbers.map((fixed) => JSON.stringify(fixed))).size, 1);
    assert.notDeepEqual(fixedOf(['-d', '80']), fixedOf(['-d', 'x']));
  });

  const kept: [title: string, args: string[], command?: string[]][] = [
    ['any other argument', ['x; id']],
    ['a flag that is not the template’s', ['--privileged=true']],
    ['the beginning of one that is', ['--lev=x']],
    ['a flag of one dash', ['-level=x']],
    ['the value of a flag that is run', ['--eval=x', '--init-file=x', '--split-string=x']],
    ['a script', ['-c', '--level=x']],
    ['a script of a cluster of options', ['-ec', '--level=x; id']],
    ['a script after the command', ['--level=x; id'], ['/bin/sh', '-c']],
    ['a program behind dashes', ['--', '--verbose'], ['tini']],
    ['a text behind a flag that is no word', ['x; id', '-x', '$(TOKEN)', '/bin/sh']],
  ];
  for (const [title, args, command] of kept) {
    it(`not ${title}`, () => {
      assert.deepEqual(fixedOf(args, command), args);
    });
  }

  for (const text of ['x; id', '-x', '$(TOKEN)', '/bin/sh', 'a b', '--unknown']) {
    it(`not ${text} behind a flag`, () => {
      assert.deepEqual(fixedOf(['--team', text]), [text]);
    });
  }

  for (const program of ['sh', '/bin/bash', 'busybox', '/usr/bin/env', 'python3.12', 'node', 'tini', 'xargs']) {
    it(`not a word behind a flag of ${program}`, () => {
      assert.deepEqual(fixedOf(['--team', 'evil'], [program]), ['evil']);
      assert.deepEqual(fixedOf([program, '--team', 'evil']), [program, 'evil']);
    });
  }

  it('and knows the flags that may come and go', () => {
    assert.deepEqual(skeletonOf(['--verbose', 'x', '--level=1'], [], own).flags, ['--verbose', '--level']);
  });
});
