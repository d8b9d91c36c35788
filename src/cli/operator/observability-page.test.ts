import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { offeredMetrics } from '../testdata/offered-metrics.ts';

const page = readFileSync(fileURLToPath(new URL('../../../docs/observability.md', import.meta.url)), 'utf8');

/** `name type label,label` of everything that a process of role `all` offers of its own. */
function offered(): string[] {
  return offeredMetrics().map(({ name, type, labels }) => `${name} ${type} ${labels.join(',')}`.trim());
}

/** The same, as the tables of the page say it: | `name` | type | `label`, `label` | … |. */
function documented(): string[] {
  const rows = page.matchAll(/^\| `((?:injector|sidecar)_\w+)` \| (\w+) \|([^|]*)\|/gm);
  return [...rows].map(([, name, type, labels = '']) => {
    return `${name} ${type} ${labels.replaceAll(/[`\s]/g, '')}`.trim();
  });
}

describe('docs/observability.md', () => {
  it('has a row for each metric, with its type and labels, and for no other', () => {
    assert.deepEqual(documented().sort(), offered().sort());
  });

  it('has alerts on metrics that there are', () => {
    const names = offered().map((line) => line.split(' ', 1)[0] ?? '');
    const expressions = [...page.matchAll(/^ +expr: (.+)$/gm)].map(([, expression = '']) => expression);
    assert.ok(expressions.length >= 5);
    for (const expression of expressions) {
      const used = expression.match(/\b(?:injector|sidecar)_\w+/g) ?? [];
      assert.notEqual(used.length, 0, expression);
      for (const name of used) assert.ok(names.includes(name.replace(/_(bucket|count|sum)$/, '')), name);
    }
  });
});
