import assert from 'node:assert/strict';
import { connect as connectPlain } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdmissionRoute } from './admission/admission-handler.ts';
import { bytesOf, injectPath, reviewOf } from './testdata/reviews.ts';
import { postHead, received, testServers } from './testdata/test-server.ts';
import { until } from './testdata/until.ts';

describe('the admission server under pressure', () => {
  const start = testServers();
  const padded = (length: number): Buffer => bytesOf(reviewOf({ options: { padding: 'x'.repeat(length) } }));

  it('ends a connection with the last answer that it may have, and takes the next one on a new connection', async () => {
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

  describe('bounds bodies', () => {
    it('413 for one that says it is too large, without reading it all', async () => {
      const { open } = await start({ limits: { maxBodyBytes: 1000, lingerTimeout: 20 } });
      const socket = await open();
      socket.write(`${postHead(1000000000)}{`);
      assert.match(await received(socket), /^HTTP\/1\.1 413 [^]*Connection: close[^]*limit is 1000\n$/);
    });

    it('413 for one that becomes too large, though the client sends all of it before it reads', async () => {
      const { post } = await start({ limits: { maxBodyBytes: 100_000 } });
      const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
      assert.equal((await post('x'.repeat(5_000_000), { headers })).status, 413);
    });

    it('no more of a refused body than is decent', async () => {
      const { open } = await start({ limits: { maxBodyBytes: 10, lingerBytes: 100_000 } });
      const socket = await open();
      const all = received(socket);
      socket.write(postHead(1000000000));
      const feed = setInterval(() => socket.write('x'.repeat(50_000)), 1);
      assert.match(await all, /^HTTP\/1\.1 413 /);
      clearInterval(feed);
    });

    it('408 for one that does not arrive in time; the request may ask for less time', async () => {
      const { open } = await start({ limits: { lingerTimeout: 10 } });
      const socket = await open();
      socket.write(`${postHead(10, `${injectPath}?timeout=20ms`)}{`);
      assert.match(await received(socket), /^HTTP\/1\.1 408 [^]*the body did not arrive in time/);
    });

    it('408 for a head that does not arrive in time', async () => {
      const { open } = await start({ limits: { headersTimeout: 30, bodyTimeout: 30 } });
      const socket = await open();
      socket.write('POST /');
      assert.match(await received(socket), /^HTTP\/1\.1 408 /);
    });

    it('answers a first request on a connection that was silent for longer than a head may take, but none after `keepAliveTimeout`', async () => {
      const { open } = await start({ limits: { headersTimeout: 30, bodyTimeout: 30, keepAliveTimeout: 200 } });
      const [late, silent] = [await open(), await open()];
      await sleep(120);
      const answer = received(late);
      late.end('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      assert.match(await answer, /^HTTP\/1\.1 404 /);
      assert.equal(await received(silent), '');
    });

    it('forgets a client that leaves in the middle', async () => {
      const { open, registry, post } = await start();
      const socket = await open();
      socket.write(`${postHead(1000)}{`);
      await until(async () => (await registry.metrics()).includes('injector_admission_buffered_bytes 257\n'));
      socket.destroy();
      await until(async () => (await registry.metrics()).includes('injector_admission_buffered_bytes 0\n'));
      assert.match(await registry.metrics(), /injector_admission_in_flight 0\n/);
      assert.equal((await post()).status, 200);
    });

    it('gives up the largest body of a new connection when memory runs out', async () => {
      const { open, post, registry } = await start({ limits: { maxBufferedBytes: 50_000, lingerTimeout: 10 } });
      const hog = await open();
      const refused = received(hog);
      hog.write(`${postHead(100_000)}${'x'.repeat(45_000)}`);
      await until(async () => /injector_admission_buffered_bytes 4[5-9]\d\d\d\n/.test(await registry.metrics()));
      assert.equal((await post(padded(20_000))).status, 200);
      assert.match(await refused, /^HTTP\/1\.1 503 [^]*Retry-After: 1\r\n[^]*Connection: close/);
    });

    it('503 for the large body itself when nobody else can be asked', async () => {
      const { post } = await start({ limits: { maxBufferedBytes: 50_000 } });
      const { status, headers } = await post(padded(60_000));
      assert.deepEqual([status, headers['retry-after'], headers.connection], [503, '1', 'close']);
    });

    it('503 for the body that has been waiting longest when there are too many', async () => {
      const { open, post, registry } = await start({ limits: { maxConcurrentBodies: 1, lingerTimeout: 10 } });
      const slow = await open();
      const refused = received(slow);
      slow.write(`${postHead(1000)}{`);
      await until(async () => (await registry.metrics()).includes('injector_admission_in_flight 1\n'));
      assert.equal((await post()).status, 200);
      assert.match(await refused, /^HTTP\/1\.1 503 [^]*too many bodies at once/);
    });

    it('400 as soon as a body holds what no review does', async () => {
      const { open } = await start({ limits: { jsonBounds: { maxDepth: 10, maxValues: 10 }, lingerTimeout: 10 } });
      const socket = await open();
      socket.write(`${postHead(10000000)}[[[`);
      socket.write('[,[,[,[,[,');
      assert.match(await received(socket), /^HTTP\/1\.1 400 [^]*the body holds more than 10 values/);
    });

    it('and the time for everything, answers too', async () => {
      const target = { handler: () => new Promise<never>(() => undefined) };
      const stuck: AdmissionRoute = { kind: 'stuck', resolve: (path) => (path === '/stuck' ? target : undefined) };
      const { post } = await start({ routes: [stuck], limits: { bodyTimeout: 20, answerTimeout: 20 } });
      await assert.rejects(post(bytesOf(reviewOf()), { path: '/stuck' }), /hang up|ECONNRESET/);
    });
  });

  describe('bounds connections', () => {
    it('and closes only those on which no review was answered', async () => {
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

    it('and forgets those that end', async () => {
      const { open, registry } = await start();
      const socket = await open();
      socket.write(postHead(0));
      assert.match(await received(socket), /^HTTP\/1\.1 400 /);
      await until(async () => (await registry.metrics()).includes('injector_connections 0\n'));
      assert.match(await registry.metrics(), /injector_connections_unproven 0\n/);
    });

    it('and ends those that never finish their handshake', async () => {
      const { server, registry } = await start({ limits: { handshakeTimeout: 20 } });
      const socket = connectPlain({ host: '127.0.0.1', port: server.address?.port ?? 0 });
      socket.write(Buffer.from([0x16, 3, 1]));
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.on('close', resolve));
      assert.match(await registry.metrics(), /injector_connections_dropped_total\{reason="handshake"\} 1\n/);
    });

    it('and goes on answering while hundreds of slow clients hold on', async () => {
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
