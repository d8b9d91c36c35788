import assert from 'node:assert/strict';
import { servingCheck, shutDown } from './shut-down.ts';
import { startTestServer } from '../testdata/test-server.ts';

describe('shutDown', () => {
  it('becomes unready immediately, drains, then closes', async () => {
    const { server, post } = await startTestServer();
    const check = servingCheck(server);
    assert.equal(check.check(), undefined);
    const first = await post();
    const down = shutDown(server, { drain: 200, close: 1000 });
    assert.equal(check.check(), 'draining');
    const second = await post();
    const answers = [first.headers.connection, second.status, second.headers.connection];
    assert.deepEqual(answers, ['keep-alive', 200, 'close']);
    await down;
    assert.equal(check.check(), 'closed');
    await assert.rejects(post(), /ECONNREFUSED/);
  });

  for (const [what, handshakesOfHalves, halves] of [
    ['without new connections', [], 2],
    ['with new connections in the first half only', [3], 2],
    ['while connections arrive', [3, 1], 3],
    ['when connections arrive again', [0, 1, 1], 4],
    ['at most twice as long', [1, 1, 1, 1, 1, 1], 4],
  ] as const)
    it(`drains for ${halves} halves ${what}`, async () => {
      const calls: string[] = [];
      const server = {
        handshakes: 7,
        drain: () => void calls.push('drain'),
        close: async (timeout: number) => void calls.push(`close ${timeout}`),
      };
      await shutDown(server, { drain: 200, close: 1000 }, async (milliseconds) => {
        server.handshakes += handshakesOfHalves[calls.length - 1] ?? 0;
        calls.push(`sleep ${milliseconds}`);
      });
      assert.deepEqual(calls, ['drain', ...Array<string>(halves).fill('sleep 100'), 'close 1000']);
    });

  it('counts the connections of clients', async () => {
    const { server, post } = await startTestServer();
    assert.equal(server.handshakes, 0);
    const first = await post();
    assert.deepEqual([(await post()).localPort, server.handshakes], [first.localPort, 1]);
    server.drain();
    await post();
    await post();
    assert.equal(server.handshakes, 2);
    await server.close(0);
  });
});
