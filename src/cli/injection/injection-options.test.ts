import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { annotationOverridesOf } from './injection-options.ts';

describe('--annotation-overrides', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'overrides-'))));
  after(() => {
    rmSync(directory, { recursive: true });
  });
  const file = (text: string): string => {
    const path = join(directory, 'overrides.yaml');
    writeFileSync(path, text);
    return path;
  };

  it('is preset Istio without a file, and Safe with one that does not say', () => {
    assert.deepEqual(annotationOverridesOf(undefined), { preset: 'Istio', allow: [] });
    assert.deepEqual(annotationOverridesOf(file('allow: [example.com/team]\n')), {
      preset: 'Safe',
      allow: ['example.com/team'],
    });
    assert.deepEqual(annotationOverridesOf(file('')), { preset: 'Safe', allow: [] });
  });

  const wrong: [title: string, text: string, message: RegExp][] = [
    ['no YAML', 'a: [', /overrides\.yaml: not YAML: /],
    ['another preset', 'preset: Unsafe', /overrides\.yaml: preset: /],
  ];
  for (const [title, text, message] of wrong) {
    it(`refuses ${title}`, () => {
      assert.throws(() => annotationOverridesOf(file(text)), { name: 'UsageError', message });
    });
  }

  it('names a file that is not there', () => {
    assert.throws(() => annotationOverridesOf(join(directory, 'none.yaml')), {
      name: 'UsageError',
      message: /--annotation-overrides .*none\.yaml: no such file/,
    });
  });
});
