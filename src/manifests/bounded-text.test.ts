import assert from 'node:assert/strict';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { configurationFiles } from './configuration-files.ts';

/** So many levels of maps around a value. */
function nested(levels: number, value: unknown): Record<string, unknown> {
  let around: Record<string, unknown> = { value };
  for (let level = 1; level < levels; level++) around = { level: around };
  return around;
}

const filesOf = (injection: Record<string, unknown>, texts = {}): unknown =>
  configurationFiles(injectorConfig('deep', { injection: { templates: { sidecar: '' }, ...injection } }), texts);

describe('the texts of a configuration', () => {
  const zeros = new Array<number>(100_000).fill(0);
  const valuesFrom = { namespace: 'a', name: 'b', key: 'c' };
  const repeated = `a: &a ${'x'.repeat(60_000)}\nb: [${Array(20).fill('*a').join(', ')}]\n`;
  const noJson = /^spec\.injection\.valuesFrom: the text is no JSON, and YAML may have 65536 characters/;
  for (const [what, injection, values, message] of [
    ['values, mostly indentation', { values: nested(200, zeros) }, '', /^spec\.injection\.values is larger than/],
    ['a mesh config that is', { meshConfig: nested(200, zeros) }, '', /^spec\.injection\.meshConfig is larger than/],
    ['values that nest too deeply', { values: nested(400, 0) }, '', /^spec\.injection\.values nests deeper than 300/],
    ['values by reference that repeat a long text', { valuesFrom }, repeated, /^spec\.injection\.valuesFrom is larger/],
    ['values by reference that are longer than all that fits', { valuesFrom }, `a: ${'x'.repeat(1_000_000)}`, noJson],
  ] as const) {
    it(`do not begin to be written for ${what}`, () => {
      assert.throws(() => filesOf(injection, { values }), { name: 'ConfigurationError', message });
    });
  }

  it('are written for values of some depth and length', () => {
    assert.ok(filesOf({ values: nested(50, zeros.slice(0, 2_000)), meshConfig: { trustDomain: 'a' } }));
  });
});
