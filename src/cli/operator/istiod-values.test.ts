import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { readRows } from '../../inject/merge/testdata/read-rows.ts';
import { type IstiodSetup, settingsOfSetup } from '../../inject/testdata/istiod-setup.ts';
import { istiodSettings } from '../../manifests/istiod-settings.ts';

describe('the values of recorded configurations of istiod', () => {
  const file = new URL('../../inject/testdata/istiod-results.jsonl.gz', import.meta.url);
  for (const { setup } of readRows<{ setup: IstiodSetup | string }>(file)) {
    if (typeof setup === 'string') continue;
    it(`have the settings of its environment: ${setup.name}`, () => {
      const { revision, ...settings } = settingsOfSetup(setup);
      assert.notEqual(revision, undefined);
      assert.deepEqual(istiodSettings(parse(setup.values)), settings);
    });
  }
});
