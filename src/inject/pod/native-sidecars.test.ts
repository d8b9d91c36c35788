import assert from 'node:assert/strict';
import { useNativeSidecars } from './native-sidecars.ts';

const nodes = (...versions: string[]) =>
  versions.map((kubeletVersion, index) => ({ name: `node-${index}`, kubeletVersion }));

describe('useNativeSidecars', () => {
  const rows: [name: string, arguments_: Parameters<typeof useNativeSidecars>, native: boolean][] = [
    ['enabled on old nodes', ['Enabled', nodes('v1.20.0'), undefined], true],
    ['disabled on new nodes', ['Disabled', nodes('v1.40.0'), undefined], false],
    ['all nodes new', ['Auto', nodes('v1.33.0', '1.34.1+k3s1'), undefined], true],
    ['one node old', ['Auto', nodes('v1.33.0', 'v1.32.9'), undefined], false],
    ['the pod’s node new', ['Auto', nodes('v1.33.0', 'v1.28.0'), 'node-0'], true],
    ['the pod’s node old', ['Auto', nodes('v1.33.0', 'v1.28.0'), 'node-1'], false],
    ['the pod’s node unknown', ['Auto', nodes('v1.33.0', 'v1.28.0'), 'node-9'], false],
    ['a version that cannot be read', ['Auto', nodes('next'), undefined], false],
    ['a new major version', ['Auto', nodes('v2.0.0'), undefined], true],
    ['no nodes', ['Auto', [], undefined], false],
    ['nodes not known', ['Auto', undefined, undefined], false],
  ];
  for (const [name, arguments_, native] of rows) {
    it(`${name}: ${native ? 'yes' : 'no'}`, () => {
      assert.equal(useNativeSidecars(...arguments_), native);
    });
  }
});
