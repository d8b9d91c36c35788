import assert from 'node:assert/strict';
import fc from 'fast-check';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { StrategicMergeError } from './merge-error.ts';
import { strategicMerge } from './strategic-merge.ts';
import { deepFreeze, readRows } from './testdata/read-rows.ts';

/** Two documents with the result or error of k8s.io/apimachinery. */
interface MergeRow {
  o: JsonObject;
  p: unknown;
  r?: JsonObject;
  e?: string;
}

const rows = readRows<MergeRow>(new URL('testdata/strategic-merge.jsonl.gz', import.meta.url));

function container(...names: string[]): JsonObject {
  return { spec: { containers: names.map((name) => ({ name })) } };
}

/** Returns the container names after a merge. */
function namesAfter(original: string[], patch: string[]): string[] {
  const merged = strategicMerge(container(...original), container(...patch)) as {
    spec: { containers: { name: string }[] };
  };
  return merged.spec.containers.map(({ name }) => name);
}

describe('strategicMerge', () => {
  describe(`agrees with Kubernetes (${rows.length} recorded pairs)`, () => {
    const results = rows.filter(({ r }) => r !== undefined);
    const refusals = rows.filter(({ e }) => e?.startsWith('panic') === false);
    const crashes = rows.filter(({ e }) => e?.startsWith('panic'));

    it('with enough pairs of each kind', () => {
      assert.ok(results.length >= 5000, `${results.length} results`);
      assert.ok(refusals.length >= 500, `${refusals.length} refusals`);
      assert.ok(crashes.length >= 50, `${crashes.length} crashes`);
    });

    const merged = ({ o, p }: MergeRow): JsonObject => strategicMerge(deepFreeze(o), deepFreeze(p));
    const shown = ({ o, p }: MergeRow): string => `${JSON.stringify(o)} + ${JSON.stringify(p)}`;

    it('on the result, without changing the arguments', () => {
      for (const row of results) assert.deepEqual(merged(row), row.r, shown(row));
    });

    it('on the error', () => {
      for (const row of refusals) assert.throws(() => merged(row), new StrategicMergeError(row.e), shown(row));
    });

    it('and rejects pairs that crash Kubernetes, here or in normalisePod', () => {
      for (const row of crashes) assert.throws(() => normalisePod(merged(row)), shown(row));
    });
  });

  describe('orders a merged list', () => {
    const cases: [original: string, patch: string, merged: string][] = [
      ['app', 'proxy', 'proxy app'],
      ['app log', 'log proxy', 'app log proxy'],
      ['app log', 'proxy log', 'proxy app log'],
      ['a b c', 'c a', 'b c a'],
      ['a b', '', 'a b'],
      ['', 'x y', 'x y'],
    ];
    const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
    for (const [original, patch, merged] of cases) {
      it(`${original} + ${patch} = ${merged}`, () => {
        assert.deepEqual(namesAfter(words(original), words(patch)), words(merged));
      });
    }
  });

  describe('for unchanged parts', () => {
    const original = {
      metadata: { labels: { a: '1' } },
      spec: { containers: [{ name: 'app', env: [{ name: 'A' }] }, { name: 'log' }] },
    };

    it('returns the original if nothing changes', () => {
      const patches = [
        null,
        {},
        { spec: {} },
        { spec: { containers: [] } },
        { metadata: { labels: { a: '1' } } },
        original,
      ];
      for (const patch of patches) assert.equal(strategicMerge(original, patch), original);
    });

    it('copies only the path to a change', () => {
      const merged = strategicMerge(original, {
        spec: { containers: [{ name: 'log', tty: true }] },
      }) as typeof original;
      assert.equal(merged.metadata, original.metadata);
      assert.equal(merged.spec.containers[0], original.spec.containers[0]);
      assert.deepEqual(merged.spec.containers[1], { name: 'log', tty: true });
      assert.equal(strategicMerge({}, original).spec, original.spec);
    });
  });

  it('rejects a patch that is not an object', () => {
    for (const patch of ['text', 7, true, []]) {
      assert.throws(() => strategicMerge({}, patch), new StrategicMergeError('invalid JSON document'));
    }
  });

  it('merges any struct of the schema', () => {
    const [own, added] = [{ name: 'A', value: '1' }, { name: 'B' }];
    const merged = strategicMerge({ env: [own] }, { env: [added] }, podStruct('v1.Container'));
    assert.deepEqual(merged, { env: [added, own] });
  });

  it('does not touch prototypes', () => {
    const patch: unknown = JSON.parse('{"metadata":{"labels":{"__proto__":{"polluted":"yes"}}}}');
    const merged = strategicMerge({ metadata: { labels: { a: 'b' } } }, patch) as { metadata: { labels: object } };
    assert.deepEqual(Object.keys(merged.metadata.labels), ['a', '__proto__']);
    assert.equal(Object.getPrototypeOf(merged.metadata.labels), Object.prototype);
  });

  it('is idempotent', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'));
    fc.assert(
      fc.property(names, names, (original, patch) => {
        const once = strategicMerge(container(...original), container(...patch));
        assert.deepEqual(strategicMerge(once, container(...patch)), once);
      }),
    );
  });
});
