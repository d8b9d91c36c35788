import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isJsonObject } from '../patch/json-value.ts';
import { documentsOfFile } from './documents-of-file.ts';
import { FileError } from './file-error.ts';
import { mapParts } from './parts-of-file.ts';
import { randomFile } from './testdata/random-files.ts';
import { listItems } from './workload-kinds.ts';

/** Returns the objects of a value, also in Lists. */
function flat(value: unknown): unknown[] {
  const items = isJsonObject(value) ? listItems(value) : undefined;
  return items === undefined ? [value] : items.flatMap(flat);
}

/** Returns the objects of a text, or its error, when each document is read whole. */
function whole(text: string): unknown {
  return resultOf(() => Array.from(documentsOfFile(text), ({ read }) => read()).flatMap(flat));
}

function byParts(text: string): unknown {
  return resultOf(() => mapParts(text, ({ read }) => flat(read())));
}

function resultOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return error.message;
  }
}

const head = 'apiVersion: v1\nkind: List\nitems:\n';

describe('mapParts', () => {
  const split: [title: string, text: string, parts: string[], lines: number[]][] = [
    ['a List', `${head}- a: 1\n  b: 2\n- a: 3\n`, ['- a: 1\n  b: 2\n', '- a: 3\n'], [4, 6]],
    [
      'a List with keys and comments below it',
      `--- # one\n${head}# first\n  - a: 1\n\n# second\n  -\n    b: 2\n# end\nmetadata: {}\n`,
      ['  - a: 1\n\n# second\n', '  -\n    b: 2\n# end\n'],
      [6, 9],
    ],
    [
      'a List with Windows line ends',
      `items: # all\r\n- a: |\r\n    x\r\n\r\n- b: 1\r\nkind: PodList`,
      ['- a: |\r\n    x\r\n\r\n', '- b: 1\r\n'],
      [2, 5],
    ],
    [
      'JSON',
      '{"kind": "List",\n "items" : [{"a": "}\\""},\n {"items": [{}]}\n, [1]], "x": [{}]}',
      ['{"a": "}\\""}', '{"items": [{}]}', '[1]'],
      [2, 3, 4],
    ],
    ['two Lists in JSON', '{"kind":"List","items":[{}]}\n{"kind":"List","items":[{"b":1}]}', ['{}', '{"b":1}'], [1, 2]],
  ];
  for (const [title, text, parts, lines] of split) {
    it(`reads the items of ${title} one after another`, () => {
      assert.deepEqual(
        mapParts(text, (part) => [part.text]),
        parts,
      );
      assert.deepEqual(
        mapParts(text, ({ line }) => [line]),
        lines,
      );
      assert.deepEqual(
        mapParts(text, (part) => [text.slice(part.start, part.start + part.text.length)]),
        parts,
      );
      assert.deepEqual(byParts(text), whole(text));
    });
  }

  const unsplit: [title: string, text: string][] = [
    ['an anchor of another item', `${head}- a: &x [1]\n- b: *x\n`],
    ['an anchor above the items', `metadata: &x {}\n${head}- b: *x\n`],
    ['an anchor that has another value in each item', `${head}- a: &x 1\n- a: &x 2\n- a: *x\n`],
    ['quoted text with a dash at the start of a line', `${head}- a: "x\n- b: y\n\n- c"\n- d: 1\n`],
    ['quotes that begin in one item', `${head}- a: 'x\n- b: ''y''\n- c'\n`],
    ['brackets that begin in one item', `${head}- a: [x\n- , y\n- ]\n`],
    ['a second key items', `${head}- a: 1\nitems:\n- b: 2\n`],
    ['a second, quoted key items', `${head}- a: 1\n"items": [{b: 2}]\n`],
    ['a merged key items', `${head}- a: 1\n<<: {items: [{b: 2}]}\n`],
    ['a key items in a text', `text: "x\nitems:\n- a: 1\n"\nkind: List\nitems: [{b: 2}]\n`],
    ['items that are not a List', 'items:\n- a: 1\n- b: 2\nkind: Deployment\n'],
    ['items of another key', `kind: List\nspec:\n  items:\nitems:\n- a: 1\n`],
    ['a second key items in JSON', '{"kind":"List","items":[{"a":1}],"items":[{"b":2}]}'],
    ['an escaped key items in JSON', '{"kind":"List","items":[{"a":1}],"item\\u0073":[{"b":2}]}'],
    ['braces that are not JSON', '{kind: List, "items": [{a: 1}, {b: "2"}]}'],
    ['items of JSON without objects', '{"kind":"List","items":[{"a":1}, null, 2]}'],
    ['no items', '{"kind":"List","items":[]}\n---\nkind: List\nitems:\n'],
  ];
  for (const [title, text] of unsplit) {
    it(`reads the same as in one piece, with ${title}`, () => {
      const expected = whole(text);
      assert.ok(Array.isArray(expected), String(expected));
      assert.deepEqual(byParts(text), expected);
    });
  }

  const wrong: [title: string, text: string][] = [
    ['a value in the second item', `${head}- a: 1\n- b:\n    c: d: e\n- f: 2\n`],
    ['a line between the columns of items and keys', `${head}  - a: 1\n b: 2\n`],
    ['an item at another column', `${head}  - a: 1\n   - b: 2\n`],
    ['an unknown alias', `${head}- a: 1\n- b: *x\n`],
    ['a text without an end', `${head}- a: 1\n- b: "x\n- c: 1\n`],
    ['the keys below', `${head}- a: 1\nb: [\n`],
    ['a tab', `${head}- a: 1\n\tb: 2\n`],
    ['a control character', `${head}- a: 1\n- b: \x1b\n`],
    ['JSON', '{"kind":"List","items":[{"a":1},{"b" 2}]}'],
    ['a third object of JSON', '{}{}{"kind":"List","items":[{"a":1},{"b" 2}]}'],
  ];
  for (const [title, text] of wrong) {
    it(`refuses a List that is wrong in ${title}, as in one piece`, () => {
      const expected = whole(text);
      assert.equal(typeof expected, 'string');
      assert.equal(byParts(text), expected);
    });
  }

  it('drops what it returned for the items before', () => {
    const texts = mapParts(`a: 0\n---\n${head}- a: &x [1]\n- b: *x\n`, (part) => {
      part.read();
      return [part.text];
    });
    assert.deepEqual(texts, ['a: 0\n', `${head}- a: &x [1]\n- b: *x\n`]);
  });

  for (let first = 0; first < 2000; first += 500)
    it(`reads the same as in one piece, for the random files ${first} to ${first + 499}`, () => {
      for (let seed = first; seed < first + 500; seed += 1) {
        const text = randomFile(seed);
        assert.deepEqual(byParts(text), whole(text), `file ${seed}`);
      }
    });

  it('needs memory for an item, and not for a List', () => {
    const program = `
      const { editFile } = await import(${JSON.stringify(join(import.meta.dirname, '..', 'kube-inject.ts'))});
      const item = (at) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' + at }, spec: { containers: [{ name: 'a', image: 'a' }] } });
      const yaml = (at) => '- apiVersion: v1\\n  kind: Pod\\n  metadata:\\n    name: p' + at + '\\n  spec:\\n    containers:\\n    - name: a\\n      image: a\\n';
      const items = Array.from({ length: 80_000 }, (_, at) => at);
      const texts = ['kind: List\\nitems:\\n' + items.map(yaml).join(''), JSON.stringify({ kind: 'List', items: items.map(item) }, undefined, 1)];
      for (const text of texts) {
        let count = 0;
        const edit = (object) => ({ object: (count += 1) % 2 ? object : { ...object, spec: { ...object.spec, hostname: 'a' } }, warnings: [] });
        const result = editFile(text, edit);
        console.log(text.length > 8e6, count, result.text.split('hostname').length, result.text.length - text.length);
      }`;
    // Reading the whole text and its positions would need 800 MB.
    const options = [...process.execArgv, '--max-old-space-size=200', '--input-type=module', '-e', program];
    const { stdout, stderr, status } = spawnSync(process.execPath, options, { encoding: 'utf8' });
    assert.equal(status, 0, stderr.slice(-2000));
    assert.equal(stdout, 'true 80000 40001 640000\ntrue 80000 40001 680000\n');
  });
});
