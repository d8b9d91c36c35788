import assert from 'node:assert/strict';
import type { StructType } from '../../template/go-type.ts';
import { customGoType } from './custom-go-type.ts';

/** Returns what templates see of a value: its fields, its JSON, and the results of its methods. */
function seen(format: 'quantity' | 'int-or-string' | 'time' | 'raw', raw: unknown): unknown[] {
  const type = customGoType({ kind: 'custom', format, goName: 'runtime.RawExtension' } as never) as StructType;
  const results = Object.entries(type.methods ?? {}).map(([name, method]) => [
    name,
    method.call(raw, [] as never, undefined as never),
  ]);
  return [type.decode?.(raw), type.toJson?.(raw), Object.fromEntries(results)];
}

describe('customGoType', () => {
  const rows: [Parameters<typeof seen>[0], unknown, unknown[]][] = [
    ['quantity', '1Gi', [{ format: 'BinarySI' }, '"1Gi"', { String: '1Gi' }]],
    ['quantity', '100m', [{ format: 'DecimalSI' }, '"100m"', { String: '100m' }]],
    ['quantity', undefined, [{ format: 'DecimalSI' }, '"0"', { String: '0' }]],
    ['int-or-string', 80, [{ type: 0, intVal: 80 }, '80', { String: '80', IntValue: 80 }]],
    ['int-or-string', 'http', [{ type: 1, strVal: 'http' }, '"http"', { String: 'http', IntValue: 0 }]],
    ['int-or-string', '-8', [{ type: 1, strVal: '-8' }, '"-8"', { String: '-8', IntValue: -8 }]],
    ['int-or-string', undefined, [{ type: 0, intVal: 0 }, '0', { String: '0', IntValue: 0 }]],
    [
      'time',
      '2026-11-20T17:00:00Z',
      [
        undefined,
        '"2026-11-20T17:00:00Z"',
        { String: '2026-11-20 17:00:00 +0000 UTC', IsZero: false, Unix: 1795194000 },
      ],
    ],
    [
      'time',
      undefined,
      [undefined, 'null', { String: '0001-01-01 00:00:00 +0000 UTC', IsZero: true, Unix: -62135596800 }],
    ],
    ['raw', { a: '<' }, [undefined, '{"a":"\\u003c"}', {}]],
    ['raw', undefined, [undefined, 'null', {}]],
  ];
  for (const [format, raw, expected] of rows) {
    it(`shows ${raw === undefined ? 'nothing' : JSON.stringify(raw)} as ${format}`, () =>
      assert.deepEqual(seen(format, raw), expected));
  }
});
