import assert from 'node:assert/strict';
import type { TLSSocket } from 'node:tls';
import { bytesOf, reviewOf } from './testdata/reviews.ts';
import { postHead, startTestServer } from './testdata/test-server.ts';
import { until } from './testdata/until.ts';

/** Addresses of the loopback interface: each a client of its own. */
const hog = '127.0.0.2';
const places = 16;
const limits = { maxConnections: places + 8, maxUnprovenConnections: 8 };

const review = bytesOf(reviewOf());
const request = Buffer.concat([Buffer.from(postHead(review.length)), review]);

describe('the admission server, when one client holds all connections that it keeps', () => {
  let server: Awaited<ReturnType<typeof startTestServer>>;
  const held: TLSSocket[] = [];
  beforeEach(async () => {
    server = await startTestServer({ limits });
  });
  afterEach(async () => {
    for (const socket of held.splice(0)) socket.destroy();
    await server.stop();
  });

  /** Asks on a connection of the client's own making; whether the answer lets it go on using it. */
  function ask(socket: TLSSocket): Promise<'kept' | 'ended' | 'lost'> {
    return new Promise((resolve) => {
      let text = '';
      const onData = (chunk: Buffer): void => {
        text += chunk.toString('latin1');
        if (!text.includes('"allowed":true')) return;
        socket.off('data', onData);
        resolve(/\r\nConnection: close\r\n/.test(text) ? 'ended' : 'kept');
      };
      socket.on('data', onData);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        resolve('lost');
      });
      socket.write(request);
    });
  }

  /** Connections of an address, each with an answered review, as many as are kept of so many. */
  async function hold(localAddress: string, count: number): Promise<TLSSocket[]> {
    const kept: TLSSocket[] = [];
    for (let index = 0; index < count; index++) {
      const socket = await server.open({ localAddress });
      held.push(socket);
      const outcome = await ask(socket);
      assert.notEqual(outcome, 'lost');
      if (outcome === 'kept') kept.push(socket);
    }
    return kept;
  }

  it('answers whoever comes, and keeps the connection', async () => {
    assert.equal((await hold(hog, 30)).length, 14);
    const answers = [];
    for (let index = 0; index < 5; index++) answers.push(await server.post());
    for (const { status, headers } of answers) assert.deepEqual([status, headers.connection], [200, 'keep-alive']);
    assert.equal(new Set(answers.map(({ localPort }) => localPort)).size, 1);
  });

  it('answers them too when no place is left for anybody, without keeping the connection', async () => {
    await hold(hog, 14);
    await hold('127.0.0.3', 1);
    await hold('127.0.0.4', 1);
    for (let index = 0; index < 5; index++) {
      const { status, headers } = await server.post();
      assert.deepEqual([status, headers.connection], [200, 'close']);
    }
    assert.doesNotMatch(await server.registry.metrics(), /injector_connections_dropped_total\{reason="pressure"\}/);
  });

  it('ends connections of its own with their next answers, down to what it is due, and none otherwise', async () => {
    const kept = await hold(hog, 14);
    const others = await hold('127.0.0.3', 2);
    const outcomes = [];
    for (const socket of kept) outcomes.push(await ask(socket));
    const expected = kept.map((_, index) => (index < 2 ? 'ended' : 'kept'));
    assert.deepEqual(outcomes, expected);
    assert.deepEqual(await Promise.all(others.map(ask)), ['kept', 'kept']);
    await until(async () => (await server.registry.metrics()).includes('injector_connections 14\n'));
  });
});
