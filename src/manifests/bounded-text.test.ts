import assert from 'node:assert/strict';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { configurationFiles } from './configuration-files.ts';

/** Wraps a value in the given number of maps. */
function nested(levels: number, value: unknown): Record<string, unknown> {
  let around: Record<string, unknown> = { value };
  for (let level = 1; level < levels; level++) around = { level: around };
  return around;
}

const filesOf = (injection: Record<string, unknown>, texts = {}): unknown =>
  configurationFiles(injectorConfig('deep', { injection: { templates: { sidecar: '' }, ...injection } }), texts);

describe('configurationFiles with large values', () => {
  const zeros = new Array<number>(100_000).fill(0);
  const valuesFrom = { namespace: 'a', name: 'b', key: 'c' };
  const repeated = `a: &a ${'x'.repeat(60_000)}\nb: [${Array(20).fill('*a').join(', ')}]\n`;
  const longYaml = /^spec\.injection\.valuesFrom: the text is not JSON, and YAML may have at most 65536 characters/;
  for (const [what, injection, values, message] of [
    ['values with much indentation', { values: nested(200, zeros) }, '', /^spec\.injection\.values is larger than/],
    ['a deep meshConfig', { meshConfig: nested(200, zeros) }, '', /^spec\.injection\.meshConfig is larger than/],
    ['values that nest too deeply', { values: nested(400, 0) }, '', /^spec\.injection\.values nests deeper than 300/],
    ['valuesFrom with a repeated alias', { valuesFrom }, repeated, /^spec\.injection\.valuesFrom is larger/],
    ['valuesFrom with YAML of 1 MB', { valuesFrom }, `a: ${'x'.repeat(1_000_000)}`, longYaml],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.throws(() => filesOf(injection, { values }), { name: 'ConfigurationError', message });
    });
  }

  it('accepts values of moderate depth and length', () => {
    assert.ok(filesOf({ values: nested(50, zeros.slice(0, 2_000)), meshConfig: { trustDomain: 'a' } }));
  });
});
