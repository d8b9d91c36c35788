import assert from 'node:assert/strict';
import { followRotation } from './certs-rotate.ts';
import type { ReadConfig } from './read-certificates.ts';

type Seen = NonNullable<NonNullable<ReadConfig['status']>['certificate']>;

describe('followRotation', () => {
  async function follow(
    history: readonly (Seen | undefined)[],
  ): Promise<{ lines: string[]; failure: string | undefined }> {
    const lines: string[] = [];
    let at = -1;
    const failure = await followRotation({
      nonce: 'n',
      read: () => {
        at += 1;
        const certificate = history[at];
        return Promise.resolve(certificate && { metadata: { name: 'a' }, status: { certificate } });
      },
      onProgress: (line) => lines.push(line),
      pause: () => Promise.resolve(at < history.length - 1),
    });
    return { lines, failure };
  }

  it('prints each phase once and ends when the rotation is complete', async () => {
    const accepted = { nonce: 'n', state: 'Accepted' } as const;
    const seen = await follow([
      { phase: 'Stable', rotateRequest: { nonce: 'older', state: 'Done' } },
      { phase: 'Publishing', rotateRequest: accepted },
      { phase: 'Publishing', rotateRequest: accepted },
      { phase: 'Retiring', rotateRequest: { nonce: 'n', state: 'Done' } },
    ]);
    assert.deepEqual(seen, {
      lines: ['waiting for the operator, phase Stable', 'accepted, phase Publishing', 'done, phase Retiring'],
      failure: undefined,
    });
  });

  const rows: [string, readonly (Seen | undefined)[], RegExp][] = [
    ['no operator answers', [{ phase: 'Stable' }, { phase: 'Stable' }], /no operator has answered in time/],
    [
      'the rotation takes too long',
      [{ phase: 'Confirming', rotateRequest: { nonce: 'n', state: 'Accepted' } }],
      /still in phase Confirming/,
    ],
    ['the request is refused', [{ rotateRequest: { nonce: 'n', state: 'Refused', message: 'no' } }], /^no$/],
    ['the refusal has no message', [{ rotateRequest: { nonce: 'n', state: 'Refused' } }], /refused/],
    ['the InjectorConfig is deleted', [{}, undefined], /was deleted/],
  ];
  for (const [name, history, message] of rows) {
    it(`reports when ${name}`, async () => {
      assert.match((await follow(history)).failure ?? '', message);
    });
  }
});
