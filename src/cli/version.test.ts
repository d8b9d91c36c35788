import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { version } from './version.ts';

describe('version', () => {
  it("is package.json's", () => {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    assert.equal(version, manifest.version);
  });
});
