import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { configurationHash } from './configuration-hash.ts';

const files = { config: 'policy: enabled\n', values: '{}', mesh: '', settings: '{"revision":"r"}' };

describe('configurationHash', () => {
  it('returns 8 hex digits of SHA-256 over the canonical JSON', () => {
    const canonical = String.raw`{"config":"policy: enabled\n","mesh":"","settings":"{\"revision\":\"r\"}","values":"{}"}`;
    assert.equal(configurationHash(files), createHash('sha256').update(canonical).digest('hex').slice(0, 8));
  });

  it('ignores the order of keys, and ignores other fields', () => {
    const { config, values, mesh, settings } = files;
    const extra = { settings, mesh, values, config, other: 'x' };
    assert.equal(configurationHash(extra), configurationHash(files));
  });

  for (const key of ['config', 'values', 'mesh', 'settings'] as const) {
    it(`depends on ${key}`, () => {
      assert.notEqual(configurationHash({ ...files, [key]: `${files[key]} ` }), configurationHash(files));
    });
  }
});
