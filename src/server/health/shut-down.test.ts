import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { listenerCheck } from './certificates-check.ts';
import { answerProbe } from './health-server.ts';
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

  it('passes the probe of a pod until its port will be closed', async () => {
    const { server, post } = await startTestServer();
    const checks = [servingCheck(server), listenerCheck(server)];
    const statuses = async (): Promise<number[]> =>
      Promise.all(
        ['/readyz', '/readyz?exclude=serving'].map(
          async (url) => (await answerProbe('GET', url, { checks, metrics: new Registry() })).status,
        ),
      );
    assert.deepEqual(await statuses(), [200, 200]);
    server.drain();
    assert.deepEqual(await statuses(), [503, 200]);
    server.leave();
    assert.deepEqual(await statuses(), [503, 503]);
    assert.deepEqual([(await post()).status, server.state], [200, 'leaving']);
    await server.close(0);
    assert.deepEqual(await statuses(), [503, 503]);
  });

  for (const [what, requestsOfHalves, halves] of [
    ['without requests', [], 2],
    ['with requests in the first half only', [3], 2],
    ['while requests arrive', [3, 1], 3],
    ['when requests arrive again', [0, 1], 3],
    ['at most twice as long', [1, 1, 1, 1, 1, 1], 3],
  ] as const)
    it(`drains for ${halves} halves ${what}, and then leaves for another one`, async () => {
      const calls: string[] = [];
      const server = {
        requests: 7,
        drain: () => void calls.push('drain'),
        leave: () => void calls.push('leave'),
        close: (timeout: number) => {
          calls.push(`close ${timeout}`);
          return Promise.resolve();
        },
      };
      await shutDown(server, { drain: 200, close: 1000 }, (milliseconds) => {
        server.requests += requestsOfHalves[calls.length - 1] ?? 0;
        calls.push(`sleep ${milliseconds}`);
        return Promise.resolve();
      });
      const drained = Array<string>(halves).fill('sleep 100');
      assert.deepEqual(calls, ['drain', ...drained, 'leave', 'sleep 100', 'close 1000']);
    });

  it('counts the requests of clients, and no handshake of the check of the listener', async () => {
    const { server, post } = await startTestServer();
    await post();
    server.drain();
    assert.equal(await listenerCheck(server).check(), undefined);
    assert.equal(server.requests, 1);
    await post();
    assert.equal(server.requests, 2);
    await server.close(0);
  });
});
