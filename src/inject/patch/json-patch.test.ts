import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyJsonPatch } from './testdata/apply-json-patch.ts';
import { diffJson, type JsonPatchOperation } from './json-patch.ts';

const add = (path: string, value: unknown): JsonPatchOperation => ({ op: 'add', path, value });
const replace = (path: string, value: unknown): JsonPatchOperation => ({ op: 'replace', path, value });
const remove = (path: string): JsonPatchOperation => ({ op: 'remove', path });
const letters = (names: string): { name: string }[] => Array.from(names, (name) => ({ name }));
const cases: [name: string, before: unknown, after: unknown, patch: JsonPatchOperation[]][] = [
  ['equal documents', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['a root of another kind', { a: 1 }, [1], [replace('', [1])]],
  [
    'members, with removals first, then in the order of the result',
    { a: 1, b: 2, c: { d: 3 } },
    { e: 5, c: { d: 4 }, b: 2 },
    [remove('/a'), add('/e', 5), replace('/c/d', 4)],
  ],
  ['null as a value', { a: null, b: 1 }, { b: null, c: null }, [remove('/a'), replace('/b', null), add('/c', null)]],
  [
    'names with characters to escape in a JSON pointer',
    { annotations: {} },
    { annotations: { 'a/b~c': 'x', '': 'y' } },
    [add('/annotations/a~1b~0c', 'x'), add('/annotations/', 'y')],
  ],
  [
    'a container added after a changed container',
    { containers: [{ name: 'app', image: 'a' }] },
    { containers: [{ name: 'app', image: 'b' }, { name: 'proxy' }] },
    [replace('/containers/0/image', 'b'), add('/containers/1', { name: 'proxy' })],
  ],
  [
    'a container added before other containers',
    { containers: [{ name: 'app' }, { name: 'log' }] },
    { containers: [{ name: 'proxy' }, { name: 'app', tty: true }, { name: 'log' }] },
    [add('/containers/0', { name: 'proxy' }), add('/containers/1/tty', true)],
  ],
  ['one container added and one removed', letters('abcd'), letters('acxd'), [remove('/1'), add('/2', { name: 'x' })]],
  ['a container that moves', letters('abc'), letters('cab'), [add('/0', { name: 'c' }), remove('/3')]],
  ['unnamed items', [1, [2], { port: 3 }], [1, [4], { port: 5 }], [replace('/1', [4]), replace('/2', { port: 5 })]],
  ['a list that is emptied', { args: ['a', 'b'] }, { args: [] }, [remove('/args/0'), remove('/args/0')]],
];

/** Generates few names and values, so that two documents have much in common. */
const { document } = fc.letrec<{ document: unknown; list: unknown[]; object: Record<string, unknown> }>((tie) => ({
  document: fc.oneof({ maxDepth: 4 }, fc.constantFrom<unknown>(null, true, 0, 1, 'a', 'b'), tie('list'), tie('object')),
  list: fc.array(tie('document'), { maxLength: 5 }),
  object: fc.dictionary(fc.constantFrom('name', 'a', 'b', 'a/b', '~1', ''), tie('document'), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
}));

describe('diffJson', () => {
  for (const [name, before, after, patch] of cases) {
    it(`handles ${name}`, () => {
      assert.deepEqual(diffJson(before, after), patch);
      assert.deepEqual(applyJsonPatch(before, patch), after);
    });
  }

  it('does not traverse subtrees that both documents share', () => {
    const shared = new Proxy({}, { ownKeys: () => assert.fail('looked into a shared object') });
    assert.deepEqual(diffJson({ a: shared, b: [shared, 1] }, { a: shared, b: [shared, 2] }), [replace('/b/1', 2)]);
  });

  it('pairs very long lists by index', () => {
    const before = Array.from({ length: 300 }, (_, index) => index);
    const after = before.map((item) => item + 1000);
    assert.equal(diffJson(before, [...after, 'x']).length, 301);
    assert.deepEqual(applyJsonPatch(before, diffJson(before, after)), after);
  });

  it('returns a patch between any two documents and changes neither document', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const copies = structuredClone({ before, after });
        const patch = diffJson(before, after);
        assert.deepEqual(applyJsonPatch(before, patch), after);
        assert.deepEqual({ before, after }, copies);
        assert.deepEqual(diffJson(before, after), patch);
      }),
      { numRuns: 500 },
    );
  });
});

describe('applyJsonPatch', () => {
  it('appends with "-"', () => {
    assert.deepEqual(applyJsonPatch([1], [add('/-', 2)]), [1, 2]);
  });

  it('adds a member named __proto__ without touching the prototype', () => {
    const after: unknown = JSON.parse('{"__proto__":{"a":1}}');
    assert.deepEqual(applyJsonPatch({}, diffJson({}, after)), after);
  });

  const misfits: [document: unknown, operation: JsonPatchOperation, message: RegExp][] = [
    [{}, remove('/a'), /remove \/a: the document has no such path/],
    [{}, replace('/a', 1), /replace \/a/],
    [{}, add('/a/b', 1), /add \/a\/b/],
    [[], add('/1', 1), /add \/1/],
    [[1], remove('/1'), /remove \/1/],
    [[1], remove('/x'), /remove \/x/],
    [[1], remove('/-'), /remove \/-/],
    [5, add('/a', 1), /add \/a/],
    [{}, remove(''), /remove : the document has no such path/],
    [{}, add('a', 1), /JSON pointer "a" must be empty or begin with "\/"/],
  ];
  for (const [target, operation, message] of misfits) {
    it(`rejects ${operation.op} ${operation.path} of ${JSON.stringify(target)}`, () => {
      assert.throws(() => applyJsonPatch(target, [operation]), message);
    });
  }
});
