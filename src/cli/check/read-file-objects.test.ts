import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { readFileObjects } from './read-file-objects.ts';

/** Of a terminal only standard input is read. */
function typed(input: string): Terminal {
  const terminal: Pick<Terminal, 'readInput'> = { readInput: () => Promise.resolve(input) };
  return terminal as Terminal;
}

function read(input: string): Promise<KubernetesObject[]> {
  return readFileObjects(typed(input), ['-']);
}

const one = 'apiVersion: v1\nkind: Pod\nmetadata: {name: one}\n';
const two = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "two"}}\n';

describe('readFileObjects', () => {
  const found: [what: string, text: string, names: (string | undefined)[]][] = [
    ['YAML and JSON', `${one}---\n${two}`, ['one', 'two']],
    ['documents without anything', `---\n# nothing\n---\n${one}---\nnull\n`, ['one']],
    ['the items of a List', `apiVersion: v1\nkind: List\nitems: [${two.trim()}, null]\n`, ['two']],
    [
      'a List in a List',
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'List', items: [] }] }),
      [],
    ],
    ['a List without items', 'apiVersion: v1\nkind: List\n', []],
    [
      'an object without metadata, or with something else there',
      'apiVersion: v1\nkind: Pod\nmetadata: 7\n',
      [undefined],
    ],
  ];
  for (const [what, text, names] of found) {
    it(what, async () => {
      const objects = await read(text);
      assert.deepEqual(
        objects.map(({ metadata }) => metadata.name),
        names,
      );
    });
  }

  const refused: [what: string, text: string, mention: RegExp][] = [
    ['a list', '- 1\n', /without apiVersion and kind/],
    ['a text', 'hello\n', /without apiVersion and kind/],
    ['no kind', 'apiVersion: v1\n', /without apiVersion and kind/],
    ['a number for a kind', 'apiVersion: v1\nkind: 7\n', /without apiVersion and kind/],
    ['something else in a List', 'apiVersion: v1\nkind: List\nitems: [7]\n', /without apiVersion and kind/],
    ['no YAML', `${one}---\na: b: c\n`, /-: not YAML: line \d+, column/],
  ];
  for (const [what, text, mention] of refused) {
    it(`${what} is refused`, async () => {
      await assert.rejects(read(text), (error) => error instanceof UsageError && mention.test(error.message));
    });
  }

  it('reads several files one after the other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'file-objects-'));
    const files = [one, two].map((text, index) => {
      const file = join(folder, `${index}.yaml`);
      writeFileSync(file, text);
      return file;
    });
    const objects = await readFileObjects(typed(''), files);
    rmSync(folder, { recursive: true });
    assert.deepEqual(
      objects.map(({ metadata }) => metadata.name),
      ['one', 'two'],
    );
  });
});
