import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { fragmentOf, textsOf } from './link.ts';

const fragmentWith = (bytes: string | Uint8Array): string => `1.${deflateRawSync(bytes).toString('base64url')}`;

describe('a link of the playground', () => {
  it('keeps all texts', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 2000 });
    await fc.assert(
      fc.asyncProperty(text, text, async (config, pod) => {
        const fragment = await fragmentOf({ config, pod });
        assert.match(fragment, /^1\.[\w-]+$/);
        assert.deepEqual(await textsOf(fragment), { config, pod });
      }),
    );
    assert.deepEqual(await textsOf(fragmentWith('["a","b",1]')), { config: 'a', pod: 'b' });
    const three = { config: 'a', pod: 'b', other: 'c' };
    assert.deepEqual(await textsOf(await fragmentOf(three)), three);
  });

  it('ignores fragments of others, and any bytes', async () => {
    for (const fragment of ['', 'top', '2.abc', '1.', '1.%%%', '1.AAAA', fragmentWith('{}'), fragmentWith('["a"]')])
      assert.equal(await textsOf(fragment), undefined, fragment);
    assert.equal(await textsOf(fragmentWith(new Uint8Array([0x22, 0xff, 0x22]))), undefined);
  });

  it('refuses a small link that expands to a large text', async () => {
    const bomb = fragmentWith(JSON.stringify(['a'.repeat(64 * 2 ** 20), '']));
    assert.ok(bomb.length < 200_000);
    assert.equal(await textsOf(bomb), undefined);
  });
});
