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
});
