import assert from 'node:assert/strict';
import { useNativeSidecars } from './native-sidecars.ts';

const nodes = (...versions: string[]) =>
  versions.map((kubeletVersion, index) => ({ name: `node-${index}`, kubeletVersion }));

describe('useNativeSidecars', () => {
  const rows: [name: string, arguments_: Parameters<typeof useNativeSidecars>, native: boolean][] = [
    ['mode Enabled on old nodes', ['Enabled', nodes('v1.20.0'), undefined], true],
    ['mode Disabled on new nodes', ['Disabled', nodes('v1.40.0'), undefined], false],
    ['only new nodes', ['Auto', nodes('v1.33.0', '1.34.1+k3s1'), undefined], true],
    ['one old node', ['Auto', nodes('v1.33.0', 'v1.32.9'), undefined], false],
    ['a pod on a new node', ['Auto', nodes('v1.33.0', 'v1.28.0'), 'node-0'], true],
    ['a pod on an old node', ['Auto', nodes('v1.33.0', 'v1.28.0'), 'node-1'], false],
    ['a pod on an unknown node', ['Auto', nodes('v1.33.0', 'v1.28.0'), 'node-9'], false],
    ['a version that cannot be read', ['Auto', nodes('next'), undefined], false],
    ['a new major version', ['Auto', nodes('v2.0.0'), undefined], true],
    ['no nodes', ['Auto', [], undefined], false],
    ['unknown nodes', ['Auto', undefined, undefined], false],
  ];
  for (const [name, arguments_, native] of rows) {
    it(`returns ${native} for ${name}`, () => {
      assert.equal(useNativeSidecars(...arguments_), native);
    });
  }
});
