import assert from 'node:assert/strict';
import { parseAnnotationOverrides } from './parse-annotation-overrides.ts';

describe('parseAnnotationOverrides', () => {
  it('defaults to preset Safe', () => {
    assert.deepEqual(parseAnnotationOverrides(null), { preset: 'Safe', allow: [] });
    assert.deepEqual(parseAnnotationOverrides({ preset: 'Istio' }), { preset: 'Istio', allow: [] });
    const allow = ['example.com/team', 'traffic.sidecar.istio.io/*', 'app'];
    assert.deepEqual(parseAnnotationOverrides({ allow }), { preset: 'Safe', allow });
    const same = { sameName: 'Warn', sameNameFields: ['image', 'resources'] };
    assert.deepEqual(parseAnnotationOverrides(same), { preset: 'Safe', allow: [], ...same });
  });

  const wrong: [title: string, value: unknown, field: string, message: RegExp][] = [
    ['a string', 'Safe', '', /object/],
    ['an unknown preset', { preset: 'None' }, 'preset', /^preset: .*"Safe"/],
    ['an unknown field', { deny: [] }, '', /deny/],
    ['* inside a name', { allow: ['a*b'] }, 'allow', /"a\*b" is not the name/],
    ['an unknown field of a container', { sameNameFields: ['resource'] }, 'sameNameFields.0', /"resources"/],
    ['sameName with preset Istio', { preset: 'Istio', sameName: 'Warn' }, 'sameName', /requires preset Safe/],
    ['allow with preset Istio', { preset: 'Istio', allow: ['a'] }, 'allow', /requires preset Safe/],
  ];
  for (const [title, value, field, message] of wrong) {
    it(`refuses ${title}`, () => {
      assert.throws(() => parseAnnotationOverrides(value), { name: 'ConfigurationError', field, message });
    });
  }
});
