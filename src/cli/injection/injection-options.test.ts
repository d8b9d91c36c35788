import assert from 'node:assert/strict';
import { temporaryFolder } from '../testdata/temporary-folder.ts';
import { annotationOverridesOf } from './injection-options.ts';

describe('--annotation-overrides', () => {
  const { path, write } = temporaryFolder();
  const file = (text: string): string => write('overrides.yaml', text);

  it('means preset Istio if there is no file, and preset Safe for a file without a preset', () => {
    assert.deepEqual(annotationOverridesOf(undefined), { preset: 'Istio', allow: [] });
    const overrides = file('allow: [example.com/team]\n');
    assert.deepEqual(annotationOverridesOf(overrides), { preset: 'Safe', allow: ['example.com/team'] });
    assert.deepEqual(annotationOverridesOf(file('')), { preset: 'Safe', allow: [] });
  });

  const wrong: [title: string, text: string, message: RegExp][] = [
    ['invalid YAML', 'a: [', /overrides\.yaml: not YAML: /],
    ['another preset', 'preset: Unsafe', /overrides\.yaml: preset: /],
  ];
  for (const [title, text, message] of wrong) {
    it(`refuses ${title}`, () => {
      assert.throws(() => annotationOverridesOf(file(text)), { name: 'UsageError', message });
    });
  }

  it('reports a missing file', () => {
    assert.throws(() => annotationOverridesOf(path('none.yaml')), {
      name: 'UsageError',
      message: /--annotation-overrides .*none\.yaml: no such file/,
    });
  });
});
