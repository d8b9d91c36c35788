import assert from 'node:assert/strict';
import { parseAnnotationOverrides } from './parse-annotation-overrides.ts';

describe('parseAnnotationOverrides', () => {
  it('defaults to preset Safe', () => {
    assert.deepEqual(parseAnnotationOverrides(null), { preset: 'Safe', allow: [] });
    assert.deepEqual(parseAnnotationOverrides({ preset: 'Istio' }), { preset: 'Istio', allow: [] });
    const allow = ['example.com/team', 'traffic.sidecar.istio.io/*', 'app'];
    assert.deepEqual(parseAnnotationOverrides({ allow }), { preset: 'Safe', allow });
  });

  const wrong: [title: string, value: unknown, field: string, message: RegExp][] = [
    ['a string', 'Safe', '', /object/],
    ['an unknown preset', { preset: 'None' }, 'preset', /^preset: .*"Safe"/],
    ['an unknown field', { deny: [] }, '', /deny/],
    ['* inside a name', { allow: ['a*b'] }, 'allow', /"a\*b" is not the name/],
    ['allow with preset Istio', { preset: 'Istio', allow: ['a'] }, 'allow', /requires preset Safe/],
  ];
  for (const [title, value, field, message] of wrong) {
    it(`refuses ${title}`, () => {
      assert.throws(() => parseAnnotationOverrides(value), { name: 'ConfigurationError', field, message });
    });
  }
});
