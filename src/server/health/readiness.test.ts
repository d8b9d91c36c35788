import assert from 'node:assert/strict';
import { checkReadiness, type ReadinessCheck } from './readiness.ts';

const failing = (): never => {
  throw new Error('broken');
};

describe('checkReadiness', () => {
  it('is ready if every check passes, or if there are no checks', async () => {
    const checks: ReadinessCheck[] = [
      { name: 'a', check: () => undefined },
      { name: 'b', check: () => Promise.resolve(undefined) },
    ];
    assert.deepEqual(await checkReadiness(checks, 1000), { ready: true, lines: ['[+]a ok', '[+]b ok'] });
    assert.deepEqual(await checkReadiness([], 1000), { ready: true, lines: [] });
  });

  for (const [what, check, line] of [
    ['returns a problem', () => 'not synced', '[-]a not synced'],
    ['resolves with a problem', () => Promise.resolve('not synced'), '[-]a not synced'],
    ['throws', failing, '[-]a broken'],
    ['rejects', () => Promise.reject(new Error('broken')), '[-]a broken'],
    ['rejects with a value that is not an Error', () => Promise.reject(JSON.parse('"odd"') as Error), '[-]a odd'],
    ['never answers', () => new Promise<undefined>(() => undefined), '[-]a no answer within 10 ms'],
  ] as const) {
    it(`is not ready if a check ${what}`, async () => {
      const other = { name: 'b', check: () => undefined };
      const expected = { ready: false, lines: [line, '[+]b ok'] };
      assert.deepEqual(await checkReadiness([{ name: 'a', check }, other], 10), expected);
    });
  }
});
