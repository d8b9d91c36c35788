import assert from 'node:assert/strict';
import { canonicalTimestamp } from './custom-types.ts';

describe('canonicalTimestamp', () => {
  const cases: [text: string, canonical: string | null | undefined][] = [
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.999Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T3:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-01T01:04:05+02:30', '2025-12-31T22:34:05Z'],
    ['2026-01-01T23:04:05-01:00', '2026-01-02T00:04:05Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['0001-01-01T00:00:00Z', null],
    ['0001-01-01T01:00:00+01:00', null],
    ['2026-02-29T00:00:00Z', undefined],
    ['2026-13-01T00:00:00Z', undefined],
    ['2026-01-01T24:00:00Z', undefined],
    ['2026-01-01T00:60:00Z', undefined],
    ['2026-01-01T00:00:00+25:00', undefined],
    ['2026-01-01T00:00:00', undefined],
    ['2026-01-01', undefined],
    ['now', undefined],
  ];
  for (const [text, canonical] of cases) {
    it(`${text}: ${canonical}`, () => {
      assert.equal(canonicalTimestamp(text), canonical);
    });
  }
});
