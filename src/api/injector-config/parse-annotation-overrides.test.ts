import assert from 'node:assert/strict';
import { parseAnnotationOverrides } from './parse-annotation-overrides.ts';

describe('parseAnnotationOverrides', () => {
  it('reads them, preset Safe when none is named', () => {
    assert.deepEqual(parseAnnotationOverrides(null), { preset: 'Safe', allow: [] });
    assert.deepEqual(parseAnnotationOverrides({ preset: 'Istio' }), { preset: 'Istio', allow: [] });
    const allow = ['example.com/team', 'traffic.sidecar.istio.io/*', 'app'];
    assert.deepEqual(parseAnnotationOverrides({ allow }), { preset: 'Safe', allow });
  });

  const wrong: [title: string, value: unknown, field: string, message: RegExp][] = [
    ['a text', 'Safe', '', /object/],
    ['another preset', { preset: 'None' }, 'preset', /^preset: .*"Safe"/],
    ['another field', { deny: [] }, '', /deny/],
    ['a hole in a name', { allow: ['a*b'] }, 'allow', /"a\*b" is not the name/],
    ['names where all are allowed', { preset: 'Istio', allow: ['a'] }, 'allow', /needs preset Safe/],
  ];
  for (const [title, value, field, message] of wrong) {
    it(`refuses ${title}`, () => {
      assert.throws(() => parseAnnotationOverrides(value), { name: 'ConfigurationError', field, message });
    });
  }
});
