import assert from 'node:assert/strict';
import type { Pod } from './pod.ts';
import { selectTemplates } from './select-templates.ts';

const key = 'inject.istio.io/templates';

function choose(value: string | undefined): readonly string[] {
  const annotations = value === undefined ? {} : { [key]: value };
  const pod: Pod = { metadata: { annotations }, spec: { containers: [] } };
  return selectTemplates(pod, key, ['sidecar'], new Map([['both', ['sidecar', 'log']]]));
}

describe('selectTemplates', () => {
  const rows: [value: string | undefined, names: readonly string[]][] = [
    [undefined, ['sidecar']],
    ['both, own', ['sidecar', 'log', 'own']],
    [Array.from({ length: 16 }, () => 'both').join(','), Array.from({ length: 16 }, () => ['sidecar', 'log']).flat()],
  ];
  for (const [value, names] of rows) {
    it(`chooses ${names.length} templates for ${String(value)}`, () => {
      assert.deepEqual(choose(value), names);
    });
  }

  it('rejects more templates than a pod can have', () => {
    assert.throws(() => choose('a,'.repeat(40_000)), {
      reason: 'TemplateLimit',
      message: `failed to run injection template: annotation ${key} names 40001 templates, but a pod can have at most 32`,
    });
  });
});
