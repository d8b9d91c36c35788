import assert from 'node:assert/strict';
import { connect as connectPlain } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdmissionRoute } from './admission/admission-handler.ts';
import { bytesOf, injectPath, reviewOf } from './testdata/reviews.ts';
import { postHead, received, testServers, startTestServer } from './testdata/test-server.ts';
import { until } from './testdata/until.ts';
import type { TLSSocket } from 'node:tls';

describe('the admission server under pressure', () => {
  const start = testServers();
  const padded = (length: number): Buffer => bytesOf(reviewOf({ options: { padding: 'x'.repeat(length) } }));

  it('closes a connection after requestsPerConnection answers and accepts a new one', async () => {
    const { post } = await start({ limits: { requestsPerConnection: 3 } });
    const answers = [];
    for (let index = 0; index < 7; index++) answers.push(await post());
    const ends = answers.map(({ status, headers }) => `${status} ${String(headers.connection)}`);
    const [kept, last] = ['200 keep-alive', '200 close'];
    assert.deepEqual(ends, [kept, kept, last, kept, kept, last, kept]);
    const [first, , third, fourth, , sixth, seventh] = answers.map(({ localPort }) => localPort);
    assert.equal(third, first);
    assert.equal(sixth, fourth);
    assert.equal(new Set([first, fourth, seventh]).size, 3);
  });

  describe('bodies', () => {
    const jsonBounds = { maxDepth: 10, maxValues: 10 };
    const [ends, late] = [/413 [^]*Connection: close[^]*limit is 1000\n$/, /408 [^]*the body did not arrive in time/];
    for (const [what, limits, text, answer] of [
      ['413 to a Content-Length that is too large', { maxBodyBytes: 1000 }, [`${postHead(1000000000)}{`], ends],
      ['408 to a body that exceeds its timeout', {}, [`${postHead(10, `${injectPath}?timeout=20ms`)}{`], late],
      ['408 to a late head', { headersTimeout: 30, bodyTimeout: 30 }, ['POST /'], /408 /],
      [
        '400 to a body with too many values',
        { jsonBounds },
        [`${postHead(10000000)}[[[`, '[,[,[,[,[,'],
        /400 [^]*the body contains more than 10 values/,
      ],
    ] as const) {
      it(`answers ${what}, before the body ends`, async () => {
        const { open } = await start({ limits: { lingerTimeout: 10, ...limits } });
        const socket = await open();
        for (const each of text) socket.write(each);
        assert.match(await received(socket), new RegExp(`^HTTP/1\\.1 ${answer.source}`));
      });
    }

    it('answers 413 to a chunked body that is too large, even if the client sends all of it before reading', async () => {
      const { post } = await start({ limits: { maxBodyBytes: 100_000 } });
      const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
      assert.equal((await post('x'.repeat(5_000_000), { headers })).status, 413);
    });

    it('reads at most lingerBytes of a refused body', async () => {
      const { open } = await start({ limits: { maxBodyBytes: 10, lingerBytes: 100_000 } });
      const socket = await open();
      const all = received(socket);
      socket.write(postHead(1000000000));
      const feed = setInterval(() => socket.write('x'.repeat(50_000)), 1);
      assert.match(await all, /^HTTP\/1\.1 413 /);
      clearInterval(feed);
    });

    it('answers a first request that arrives after headersTimeout, but not after keepAliveTimeout', async () => {
      const { open } = await start({ limits: { headersTimeout: 30, bodyTimeout: 30, keepAliveTimeout: 200 } });
      const [late, idle] = [await open(), await open()];
      await sleep(120);
      const answer = received(late);
      late.end('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      assert.match(await answer, /^HTTP\/1\.1 404 /);
      assert.equal(await received(idle), '');
    });

    it('releases the body of a client that disconnects', async () => {
      const { open, registry, post } = await start();
      const socket = await open();
      socket.write(`${postHead(1000)}{`);
      await until(async () => (await registry.metrics()).includes('injector_admission_buffered_bytes 257\n'));
      socket.destroy();
      await until(async () => (await registry.metrics()).includes('injector_admission_buffered_bytes 0\n'));
      assert.match(await registry.metrics(), /injector_admission_in_flight 0\n/);
      assert.equal((await post()).status, 200);
    });

    it('evicts the largest body of a new connection when memory runs out', async () => {
      const { open, post, registry } = await start({ limits: { maxBufferedBytes: 50_000, lingerTimeout: 10 } });
      const large = await open();
      const refused = received(large);
      large.write(`${postHead(100_000)}${'x'.repeat(45_000)}`);
      await until(async () => /injector_admission_buffered_bytes 4[5-9]\d\d\d\n/.test(await registry.metrics()));
      assert.equal((await post(padded(20_000))).status, 200);
      assert.match(await refused, /^HTTP\/1\.1 503 [^]*Retry-After: 1\r\n[^]*Connection: close/);
    });

    it('answers 503 to a large body when no other body can be evicted', async () => {
      const { post } = await start({ limits: { maxBufferedBytes: 50_000 } });
      const { status, headers } = await post(padded(60_000));
      assert.deepEqual([status, headers['retry-after'], headers.connection], [503, '1', 'close']);
    });

    it('answers 503 to the oldest body when there are too many bodies', async () => {
      const { open, post, registry } = await start({ limits: { maxConcurrentBodies: 1, lingerTimeout: 10 } });
      const slow = await open();
      const refused = received(slow);
      slow.write(`${postHead(1000)}{`);
      await until(async () => (await registry.metrics()).includes('injector_admission_in_flight 1\n'));
      assert.equal((await post()).status, 200);
      assert.match(await refused, /^HTTP\/1\.1 503 [^]*too many bodies at once/);
    });

    it('closes the connection when an exchange, including its answer, takes too long', async () => {
      const target = { handler: () => new Promise<never>(() => undefined) };
      const stuck: AdmissionRoute = { kind: 'stuck', resolve: (path) => (path === '/stuck' ? target : undefined) };
      const { post } = await start({ routes: [stuck], limits: { bodyTimeout: 20, answerTimeout: 20 } });
      await assert.rejects(post(bytesOf(reviewOf()), { path: '/stuck' }), /hang up|ECONNRESET/);
    });
  });

  describe('connections', () => {
    it('closes only connections without an answered review', async () => {
      const { open, post, registry } = await start({ limits: { maxUnprovenConnections: 3, maxConnections: 5 } });
      const first = await post();
      const idle = await Promise.all([open(), open(), open()]);
      const ended = Promise.race(idle.map((socket) => received(socket)));
      const last = await open();
      assert.equal(await ended, '');
      assert.match(await registry.metrics(), /injector_connections_dropped_total\{reason="pressure"\} 1\n/);
      const again = await post();
      assert.deepEqual([again.status, again.localPort], [200, first.localPort]);
      for (const socket of [...idle, last]) socket.destroy();
    });

    it('does not count closed connections', async () => {
      const { open, registry } = await start();
      const socket = await open();
      socket.write(postHead(0));
      assert.match(await received(socket), /^HTTP\/1\.1 400 [^]*no body found\n$/);
      await until(async () => (await registry.metrics()).includes('injector_connections 0\n'));
      assert.match(await registry.metrics(), /injector_connections_unproven 0\n/);
    });

    it('closes connections that do not finish their handshake', async () => {
      const { server, registry } = await start({ limits: { handshakeTimeout: 20 } });
      const socket = connectPlain({ host: '127.0.0.1', port: server.address?.port ?? 0 });
      socket.write(Buffer.from([0x16, 3, 1]));
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.on('close', resolve));
      assert.match(await registry.metrics(), /injector_connections_dropped_total\{reason="handshake"\} 1\n/);
    });

    it('answers while hundreds of slow clients stay connected', async () => {
      const { open, post, registry } = await start({ limits: { maxUnprovenConnections: 40, lingerTimeout: 10 } });
      const first = await post();
      const slow = [];
      for (let index = 0; index < 200; index++) {
        const socket = await open();
        socket.on('error', () => undefined);
        socket.write(`${postHead(100_000)}{`);
        slow.push(socket);
        if (index % 20 === 0) assert.equal((await post()).status, 200);
      }
      assert.equal((await post()).localPort, first.localPort);
      assert.match(await registry.metrics(), /injector_connections_dropped_total\{reason="pressure"\} 160\n/);
      for (const socket of slow) socket.destroy();
    });
  });
});

const greedyAddress = '127.0.0.2';
const places = 16;
const limits = { maxConnections: places + 8, maxUnprovenConnections: 8 };

const review = bytesOf(reviewOf());
const request = Buffer.concat([Buffer.from(postHead(review.length)), review]);

describe('the admission server, when one client holds all proven connections', () => {
  let server: Awaited<ReturnType<typeof startTestServer>>;
  const held: TLSSocket[] = [];
  beforeEach(async () => {
    server = await startTestServer({ limits });
  });
  afterEach(async () => {
    for (const socket of held.splice(0)) socket.destroy();
    await server.stop();
  });

  /** Sends a review on the connection. Returns whether the answer keeps the connection open. */
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

  /** Opens connections, sends a review on each, and returns the connections that stay open. */
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

  it('answers other clients and keeps their connections', async () => {
    assert.equal((await hold(greedyAddress, 30)).length, 14);
    const answers = [];
    for (let index = 0; index < 5; index++) answers.push(await server.post());
    for (const { status, headers } of answers) assert.deepEqual([status, headers.connection], [200, 'keep-alive']);
    assert.equal(new Set(answers.map(({ localPort }) => localPort)).size, 1);
  });

  it('answers other clients when no slot is free, and closes their connections', async () => {
    await hold(greedyAddress, 14);
    await hold('127.0.0.3', 1);
    await hold('127.0.0.4', 1);
    for (let index = 0; index < 5; index++) {
      const { status, headers } = await server.post();
      assert.deepEqual([status, headers.connection], [200, 'close']);
    }
    assert.doesNotMatch(await server.registry.metrics(), /injector_connections_dropped_total\{reason="pressure"\}/);
  });

  it("closes that client's connections beyond its share after their next answers, and keeps all others", async () => {
    const kept = await hold(greedyAddress, 14);
    const others = await hold('127.0.0.3', 2);
    const outcomes = [];
    for (const socket of kept) outcomes.push(await ask(socket));
    const expected = kept.map((_, index) => (index < 2 ? 'ended' : 'kept'));
    assert.deepEqual(outcomes, expected);
    assert.deepEqual(await Promise.all(others.map(ask)), ['kept', 'kept']);
    await until(async () => (await server.registry.metrics()).includes('injector_connections 14\n'));
  });
});
