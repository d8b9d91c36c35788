import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs, {
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { readText } from './files.ts';
import { folderBounds, type NamedText, readFiles } from './read-folder.ts';
import { UsageError } from './terminal.ts';
import { recordingTerminal } from './testdata/recording-terminal.ts';
import { temporaryFolder } from './testdata/temporary-folder.ts';

/** A folder: text is a file, `>target` a link, `|` a FIFO, and an object a folder. */
interface Tree {
  readonly [name: string]: string | Tree;
}

describe('files below a folder', () => {
  const { path } = temporaryFolder();
  const mebibyte = 2 ** 20;
  let root = '';
  before(() => {
    root = path('root');
    execFileSync('mkfifo', [path('fifo')]);
    build(path('root2'), { 'a.yaml': 'outside' });
  });

  function build(place: string, node: string | Tree): void {
    if (typeof node === 'object') {
      rmSync(place, { recursive: true, force: true });
      mkdirSync(place);
      for (const [name, below] of Object.entries(node)) build(join(place, name), below);
    } else if (node === '|') linkSync(path('fifo'), place);
    else if (node.startsWith('>')) symlinkSync(node.slice(1), place);
    else writeFileSync(place, node);
  }

  /** Reads all files below the root, and counts how often a folder is listed. */
  async function read(tree: Tree, bounds = folderBounds) {
    build(root, tree);
    const { terminal, seen } = recordingTerminal();
    const files: NamedText[] = [];
    let listed = 0;
    const original = fs.readdirSync;
    fs.readdirSync = ((...values: Parameters<typeof original>) => {
      listed += 1;
      return original(...values);
    }) as typeof original;
    syncBuiltinESMExports();
    try {
      for await (const file of readFiles(terminal, '-f', [root], bounds)) files.push(file);
    } finally {
      fs.readdirSync = original;
      syncBuiltinESMExports();
    }
    const { errors } = seen();
    const skipped = [...errors.matchAll(/skipped "([^"]*)"/g)].map(([, name]) => name).join(' ');
    return { files, names: files.map(({ name }) => relative(root, name)).join(' '), skipped, errors, listed };
  }

  const trees: [title: string, tree: Tree, names: string, skipped: string][] = [
    ['in the order of paths', { a: { 'x.yml': '' }, 'a-b.yaml': '', 't.txt': '' }, 'a-b.yaml a/x.yml', ''],
    ['once', { 'a.yaml': '>b.yaml', 'b.yaml': '', c: '>.', 'd.yaml': '>c/a.yaml' }, 'b.yaml', ''],
    ['that only a link names so', { 'a.yaml': '>c/t', 'b.json': '>a.yaml', c: { t: '' } }, 'a.yaml', ''],
    [
      'of a mounted ConfigMap',
      { '..data': '>..1', '..1': { a: '', 'b.yaml': '' }, 'a.yaml': '>..data/a' },
      '..1/b.yaml a.yaml',
      '',
    ],
    ['where the system finds them', { t: '', b: { c: { s: '>.', 'x.yaml': '>s/../../t' } } }, 'b/c/x.yaml', ''],
    ['but no device', { 'a.yaml': '', 'b.yaml': '>/dev/zero', t: '>/dev/zero' }, 'a.yaml', 'b.yaml'],
    [
      'but no other folder',
      { 'a.yaml': '', b: '>..', 'c.yaml': '>b/root2/a.yaml', d: '>../root2' },
      'a.yaml',
      'b c.yaml d',
    ],
    [
      'but no link to nothing',
      { 'a.yaml': '', 'b.yaml': '>b.yaml', 'c.yaml': '>no', d: '>no' },
      'a.yaml',
      'b.yaml c.yaml',
    ],
    [
      'but no FIFO',
      { 'a.yaml': '', 'b.yaml': '|', 'c.yaml': '>b.yaml', d: '|', 'e.yaml': '>d' },
      'a.yaml',
      'b.yaml c.yaml e.yaml',
    ],
  ];
  for (const [title, tree, names, skipped] of trees) {
    it(`are read ${title}`, async () => {
      const seen = await read(tree);
      assert.deepEqual([seen.names, seen.skipped], [names, skipped]);
    });
  }

  it('are those of a bounded walk that follows links, and each folder is listed once', async () => {
    const inside = ['.', 'a', 'b', 'a/b', '../a', 'c.yaml', 'b/c.yaml', '../e', 'none'];
    const targets = [...inside, '..', '../..', '../root2/a.yaml', '../../root2', 'a/../..', '/dev/zero', '/'];
    const leaf = fc.constantFrom('text', '|', ...targets.map((target) => `>${target}`));
    const tree = (depth: number): fc.Arbitrary<Tree> =>
      fc.dictionary(
        fc.constantFrom('a', 'b', 'c.yaml', 'd.json', 'e'),
        depth === 0 ? leaf : fc.oneof(leaf, tree(depth - 1)),
      );
    await fc.assert(
      fc.asyncProperty(tree(2), async (generated) => {
        const { files, listed } = await read({ ...generated, 'z.yaml': '' });
        const { expected, folders } = walk(root, 4);
        assert.deepEqual(files.map(({ name }) => realpathSync.native(name)).sort(), [...expected].sort());
        assert.equal(listed, folders);
      }),
    );
  });

  /** Follows every link, as `find -L` does, and keeps the real files below the root. */
  function walk(folder: string, depth: number, expected = new Set<string>()) {
    let folders = 1;
    for (const name of readdirSync(folder)) {
      let real = '/';
      try {
        real = realpathSync.native(join(folder, name));
      } catch {
        // A link without a target.
      }
      if (!`${real}/`.startsWith(`${realpathSync.native(root)}/`)) continue;
      const stats = statSync(real);
      if (stats.isDirectory() && depth > 0) {
        const below = walk(join(folder, name), depth - 1, expected);
        if (real === join(realpathSync.native(folder), name)) folders += below.folders;
      } else if (stats.isFile() && /\.(yaml|json)$/.test(name)) expected.add(real);
    }
    return { expected, folders };
  }

  const bounds: [Partial<typeof folderBounds>, Tree, RegExp][] = [
    [{ files: 2 }, { 'a.yaml': '', 'b.yaml': '', 'c.yaml': '' }, /root: .* more than 2 YAML and JSON files; name/],
    [{ depth: 1 }, { a: { b: {} } }, /root\/a\/b: is more than 1 folders deep; name/],
    [{ fileBytes: mebibyte }, { 'a.yaml': 'é'.repeat(mebibyte / 2 + 1) }, /root\/a.yaml: is larger than 1 MiB; split/],
    [{ bytes: mebibyte }, { 'a.yaml': 'a'.repeat(mebibyte), 'b.yaml': 'b' }, /root: .* more than 1 MiB .*; name/],
  ];
  for (const [bound, tree, message] of bounds) {
    it(`are bounded in ${Object.keys(bound).join()}`, async () => {
      const isRight = (error: unknown): boolean => error instanceof UsageError && message.test(error.message);
      await assert.rejects(read(tree, { ...folderBounds, ...bound }), isRight);
      const { files } = await read(
        { 'a.yaml': 'a'.repeat(mebibyte) },
        { files: 1, depth: 0, fileBytes: mebibyte, bytes: mebibyte },
      );
      assert.equal(files[0]?.text.length, mebibyte);
    });
  }

  it('that are skipped are named up to ten, each on one line', async () => {
    const links = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`${index}\n.yaml`, '>..']));
    const { errors } = await read({ 'a.yaml': '', ...links });
    assert.equal(errors.split('\n').length, 11);
    assert.match(errors, /skipped "0\\n.yaml": a link that leaves the folder; name[^]* skipped 15 more$/);
  });

  for (const by of ['|', '>/dev/zero', '>a.yaml']) {
    it(`are refused if ${by} replaces one after the folder is listed`, async () => {
      build(root, { 'a.yaml': '', 'b.yaml': '' });
      const reading = readFiles(recordingTerminal().terminal, '-f', [root]);
      await reading.next();
      rmSync(join(root, 'b.yaml'));
      build(join(root, 'b.yaml'), by);
      await assert.rejects(reading.next(), /-f .*b.yaml: (is not a regular file|.*has been replaced by a link)/);
    });
  }

  it('may be links and pipes if they are named themselves', async () => {
    build(root, { a: '|', b: '>a', c: '>../root2' });
    spawn('sh', ['-c', 'echo piped > "$0"', join(root, 'a')]);
    const names = [join(root, 'b'), '-', join(root, 'c'), join(root, 'c/a.yaml')];
    const texts: string[] = [];
    for await (const { text } of readFiles(recordingTerminal('typed').terminal, '-f', names)) texts.push(text);
    assert.deepEqual(texts, ['piped\n', 'typed', 'outside', 'outside']);
    assert.throws(() => readText('/dev/zero', mebibyte), /is larger than 1 MiB/);
  });
});
