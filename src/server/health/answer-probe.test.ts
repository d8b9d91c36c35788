import assert from 'node:assert/strict';
import { answerProbe, type ProbeSources } from './answer-probe.ts';

const sources = (problem?: string): ProbeSources => ({
  checks: [
    { name: 'listener', check: () => undefined },
    { name: 'stores', check: () => problem },
  ],
  metrics: { contentType: 'text/x-metrics', metrics: () => Promise.resolve('a 1\n') },
  checkTimeout: 1000,
});

describe('answerProbe', () => {
  for (const [method, url, problem, status, body] of [
    ['GET', '/healthz', 'not synced', 200, 'ok\n'],
    ['HEAD', '/healthz', undefined, 200, 'ok\n'],
    ['GET', '/readyz', undefined, 200, '[+]listener ok\n[+]stores ok\nready\n'],
    ['GET', '/readyz?verbose', 'not synced', 503, '[+]listener ok\n[-]stores not synced\nnot ready\n'],
    ['GET', '/metrics', undefined, 200, 'a 1\n'],
    ['GET', '/', undefined, 404, 'no such path; there are /healthz, /readyz and /metrics\n'],
    ['POST', '/healthz', undefined, 405, 'only GET\n'],
  ] as const) {
    it(`${method} ${url}${problem === undefined ? '' : ` while ${problem}`}: ${status}`, async () => {
      const answer = await answerProbe(method, url, sources(problem));
      assert.deepEqual([answer.status, answer.body, answer.close], [status, body, false]);
    });
  }

  it('gives metrics their own type', async () => {
    assert.deepEqual((await answerProbe('GET', '/metrics', sources())).headers, { 'Content-Type': 'text/x-metrics' });
  });
});
