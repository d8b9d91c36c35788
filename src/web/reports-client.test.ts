import assert from 'node:assert/strict';
import { follow, type Followed, openSession, snapshotClient } from './reports-client.ts';

interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

/** A server that gives these answers in turn, and then none until the request is aborted. */
function serverOf(...answers: readonly (Answer | Error)[]) {
  const asked: string[] = [];
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  const send = async (path: string, init: { headers: Record<string, string>; signal?: AbortSignal }) => {
    asked.push(`${path} ${init.headers['Authorization'] ?? ''}`);
    const answer = answers[asked.length - 1];
    if (answer instanceof Error) throw answer;
    if (answer === undefined)
      await new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const { status = 200, body } = answer ?? { body: {} };
    return { ok: status === 200, status, json: () => Promise.resolve(body) };
  };
  return { asked, storage, send };
}

/** Follows until there are as many results as expected. */
async function followed(server: ReturnType<typeof serverOf>, count: number): Promise<Followed<string>[]> {
  const client = await openSession(server.send, server.storage, '');
  const results: Followed<string>[] = [];
  const stop = new AbortController();
  const told = (each: Followed<string>): void => {
    results.push(each);
    if (results.length === count) setTimeout(() => stop.abort(), 5);
  };
  await follow<string>(client, '/r', told, stop.signal, 1);
  return results;
}

describe('the client of the dashboard', () => {
  it('exchanges the token once, and continues the session of the tab', async () => {
    const server = serverOf({ body: { session: 's' } }, { body: 1 }, { body: 2 });
    const first = await openSession(server.send, server.storage, '#token=a-b_c');
    const again = await openSession(server.send, server.storage, '');
    assert.deepEqual([await first.get('/x'), await again.get('/y')], [1, 2]);
    assert.deepEqual(server.asked, ['/session Bearer a-b_c', '/x Bearer s', '/y Bearer s']);
  });

  it('says why the token is refused', async () => {
    const server = serverOf({ status: 401, body: { failure: 'was used' } });
    await assert.rejects(openSession(server.send, server.storage, '#token=a'), /^RequestFailure: was used$/);
  });

  it('asks for the next version, and does not tell the same one twice', async () => {
    const [one, same, two] = [1, 1, 2].map((version) => ({ body: { version, report: `report ${version}` } }));
    const server = serverOf(one!, same!, two!);
    assert.deepEqual(
      (await followed(server, 2)).map(({ report }) => report),
      ['report 1', 'report 2'],
    );
    assert.deepEqual(
      server.asked.map((each) => each.split(' ')[0]),
      ['/r?after=0', '/r?after=1', '/r?after=1', '/r?after=2'],
    );
  });

  it('keeps the report while the command does not answer, and begins again', async () => {
    const body = { version: 7, report: 'report' };
    const results = await followed(serverOf({ body }, new TypeError('Failed to fetch'), { body }), 3);
    assert.deepEqual(
      results.map(({ report, failure }) => [report, failure?.includes('still running')]),
      [
        ['report', undefined],
        ['report', true],
        ['report', undefined],
      ],
    );
  });

  it('ends when the session is refused', async () => {
    const server = serverOf({ status: 401, body: { failure: 'this page has no session' } });
    assert.deepEqual(await followed(server, 9), [{ failure: 'this page has no session' }]);
    assert.equal(server.asked.length, 1);
  });

  it('answers from a snapshot, in which nothing changes', async () => {
    const client = snapshotClient({ at: '2026-01-01T00:00:00Z', answers: { r: { version: 1, report: 'report' } } });
    const stop = new AbortController();
    const results: Followed<string>[] = [];
    void follow<string>(client, '/reports/r', (each) => results.push(each), stop.signal);
    await assert.rejects(client.get('/check?workload=x'), /has no explanations; use `injector check`/);
    assert.deepEqual(results, [{ report: 'report', failure: undefined, at: undefined }]);
    stop.abort();
  });
});
