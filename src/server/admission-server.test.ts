import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { connect, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import fc from 'fast-check';
import { type AdmissionDecision, allowed } from './admission/admission-decision.ts';
import type { AdmissionRoute } from './admission/admission-handler.ts';
import { answeredReview, bytesOf, injectPath, patchOf, reviewOf } from './testdata/reviews.ts';
import { postHead, received, startTestServer, testServers } from './testdata/test-server.ts';
import { until } from './testdata/until.ts';

describe('the admission server', () => {
  const start = testServers();
  const review = bytesOf(reviewOf());

  describe('answers', () => {
    it('a review, and keeps the connection open', async () => {
      const { post, server } = await start();
      const [first, second] = [await post(), await post()];
      assert.equal(server.state, 'serving');
      assert.deepEqual([first.status, second.status], [200, 200]);
      assert.deepEqual(patchOf(answeredReview(first.body)), [
        { op: 'add', path: '/spec/hello', value: 1 },
        { op: 'add', path: '/metadata/annotations', value: { 'sidecar-injector.io/config': 'default.0a1b2c3d' } },
      ]);
      assert.equal(first.localPort, second.localPort);
      assert.equal(first.headers.connection, 'keep-alive');
    });

    it('a review with an Upgrade header, and closes the connection', async () => {
      const { post } = await start();
      const headers = { 'Content-Type': 'application/json', 'Content-Length': review.length };
      const answer = await post(review, { headers: { ...headers, Connection: 'Upgrade', Upgrade: 'h2c' } });
      assert.deepEqual([answer.status, answer.headers.connection], [200, 'close']);
    });

    it('a chunked body of 19 MiB', async () => {
      const { post } = await start();
      const { status, body } = await post(bytesOf(reviewOf({ options: { padding: 'x'.repeat(19 * 1024 * 1024) } })));
      assert.deepEqual([status, answeredReview(body).response.allowed], [200, true]);
    });

    it('malformed HTTP with 400, and a request head that is too long with 431', async () => {
      const { open } = await start();
      const [garbage, long] = [await open(), await open()];
      garbage.write('no http\r\n\r\n');
      long.write(`POST ${injectPath} HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
      assert.match(await received(garbage), /^HTTP\/1\.1 400 /);
      assert.match(await received(long), /^HTTP\/1\.1 431 /);
    });

    it('a request head of 8 MB with 431 before all of it has arrived', async () => {
      const { open } = await start();
      const client = await open();
      const errors: string[] = [];
      client.on('error', ({ message }: Error) => errors.push(message));
      client.write(`POST ${injectPath} HTTP/1.1\r\nX-Long: ${'x'.repeat(8_000_000)}\r\n\r\n`);
      assert.match(await received(client), /^HTTP\/1\.1 431 /);
      assert.deepEqual(errors, []);
    });

    it('malformed HTTP with 400, and closes the connection of a client that continues to send', async () => {
      const { open } = await start({ limits: { lingerTimeout: 20 } });
      const client = await open({ allowHalfOpen: true });
      const sending = setInterval(() => client.write(`X: ${'x'.repeat(20_000)}\r\n`), 5);
      const text = await received(client);
      clearInterval(sending);
      assert.match(text, /^HTTP\/1\.1 400 /);
    });
  });

  describe('survives', () => {
    it('arbitrary bytes, and answers the next client', async () => {
      const { open, post, log } = await start({
        // Bytes may complete the body of the previous request, which the server then answers.
        limits: { headersTimeout: 50, bodyTimeout: 50, answerTimeout: 50, lingerTimeout: 10, keepAliveTimeout: 50 },
      });
      const head = `POST ${injectPath} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
      const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString('latin1'));
      const odd = fc.constantFrom('-1', '1e3', '99999999999999999999', '5, 5', '');
      const length = fc.oneof(fc.nat(300).map(String), odd);
      const request = fc.oneof(
        bytes,
        fc.tuple(length, bytes).map(([size, body]) => `${head}Content-Length: ${size}\r\n\r\n${body}`),
        bytes.map((body) => `${head}Transfer-Encoding: chunked\r\n\r\n${body}`),
        bytes.map((body) => `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${body}`),
        bytes.map((header) => `${head}X: ${header}\r\nExpect: 100-continue\r\n\r\n`),
        fc.constantFrom(
          'CONNECT a:443 HTTP/1.1\r\n\r\n',
          'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
        ),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), async (requests) => {
          const socket = await open();
          const answer = received(socket);
          socket.write(requests.join(''), 'latin1');
          const text = await answer;
          assert.ok(text === '' || text.startsWith('HTTP/1.1 '), text);
        }),
        { numRuns: 40, examples: [[[`${head}Content-Length: 23\r\n\r\nQ`, 'CONNECT a:443 HTTP/1.1\r\n\r\n']]] },
      );
      assert.equal((await post()).status, 200);
      assert.ok(log.lines.every(({ level }) => level !== 'error'));
    });

    it('pipelined requests, and answers them in order', async () => {
      const { open } = await start();
      const socket = await open();
      const answers = received(socket);
      const one = (path: string): string => `${postHead(review.length, path)}${review.toString()}`;
      socket.write(one(injectPath) + one(injectPath) + one('/nowhere'));
      const statuses = [...(await answers).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
      assert.deepEqual(statuses, ['200', '200', '404']);
    });
  });

  describe('certificates', () => {
    type TestServer = Awaited<ReturnType<typeof start>>;
    function peer({ server }: TestServer, options: ConnectionOptions = {}): Promise<PeerCertificate> {
      const { port = 0 } = server.address ?? {};
      return new Promise((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
          resolve(socket.getPeerCertificate());
          socket.destroy();
        });
        socket.on('error', reject);
      });
    }

    it('are chosen by SNI, ignoring case, with a default for other names', async () => {
      const server = await start();
      server.pairs.byName.set('second.test.svc', server.authority.issue('second'));
      const subjects = [];
      for (const servername of ['first.test.svc', 'second.test.svc', 'SECOND.test.svc', 'third.test.svc', undefined]) {
        subjects.push((await peer(server, servername === undefined ? {} : { servername })).subject.CN);
      }
      assert.deepEqual(subjects, ['first', 'second', 'second', 'first', 'first']);
    });

    it('are replaced without closing a connection', async () => {
      const server = await start();
      const before = await server.post();
      const servername = 'first.test.svc';
      const serial = (await peer(server, { servername })).serialNumber;
      const renewed = server.authority.issue('first');
      server.pairs.byName.set('first.test.svc', renewed);
      server.pairs.fallback = renewed;
      const after = await server.post();
      assert.equal(after.localPort, before.localPort);
      const serials = new Set([(await peer(server, { servername })).serialNumber, (await peer(server)).serialNumber]);
      assert.equal(serials.size, 1);
      assert.ok(!serials.has(serial));
    });

    it('fail the handshake if they are invalid; the log names them without their keys', async () => {
      const server = await start();
      const privateKeyPem = 'no key: hunter2';
      const broken = { certificatePem: server.authority.issue('first').certificatePem, privateKeyPem };
      server.pairs.byName.set('broken.test.svc', broken);
      await assert.rejects(peer(server, { servername: 'broken.test.svc' }));
      server.pairs.fallback = broken;
      assert.equal((await peer(server)).subject.CN, 'first');
      const errors = server.log.lines.filter(({ level }) => level === 'error');
      assert.deepEqual(
        errors.map(({ message }) => message),
        ['a serving certificate cannot be used', 'the default serving certificate cannot be used'],
      );
      assert.doesNotMatch(JSON.stringify(errors), /hunter2/);
      assert.match(await server.registry.metrics(), /injector_tls_handshakes_total\{result="failed"\} 1\n/);
    });

    it('fail the handshake if they are missing', async () => {
      const server = await start();
      server.pairs.byName.clear();
      server.pairs.fallback = undefined;
      await assert.rejects(peer(server, { servername: 'other.test.svc' }));
    });

    it('are served only over TLS 1.2 or later', async () => {
      const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
      await assert.rejects(peer(await start(), old));
    });

    it('appear in the metrics with their expiry', async () => {
      const server = await start();
      assert.match(
        await server.registry.metrics(),
        /injector_serving_certificate_not_after_seconds\{server_name="first\.test\.svc"\} 1900000000\n/,
      );
    });
  });

  describe('shuts down', () => {
    it('by closing connections after their next answers, then closing idle connections', async () => {
      const { server, post } = await start();
      const before = await post();
      server.drain();
      const during = await post();
      assert.equal(server.state, 'draining');
      assert.deepEqual([during.status, during.localPort, during.headers.connection], [200, before.localPort, 'close']);
      const next = await post();
      assert.notEqual(next.localPort, during.localPort);
      await server.close(1000);
      assert.equal(server.state, 'closed');
      await assert.rejects(post(), /ECONNREFUSED/);
      await server.close(1000);
      server.drain();
      assert.equal(server.state, 'closed');
    });

    it('after it has answered requests in flight, and refuses new requests', async () => {
      const waiting: (() => void)[] = [];
      const handler = async (): Promise<AdmissionDecision> => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return allowed('Valid');
      };
      const slow: AdmissionRoute = { kind: 'slow', resolve: (path) => (path === '/slow' ? { handler } : undefined) };
      const { server, post, open } = await start({ routes: [slow] });
      const fresh = await open();
      const pending = post(review, { path: '/slow' });
      await until(() => waiting.length > 0);
      const closing = server.close(10_000);
      assert.equal(server.state, 'closing');
      fresh.write(`${postHead(review.length)}${review.toString()}`);
      assert.match(await received(fresh), /^HTTP\/1\.1 503 [^]*Retry-After: 1[^]*shutting down/);
      for (const answer of waiting) answer();
      const answer = await pending;
      assert.deepEqual([answer.status, answer.headers.connection], [200, 'close']);
      await closing;
    });

    it('at the latest after the timeout', async () => {
      const { server, open } = await start();
      const socket = await open();
      const ended = received(socket);
      socket.write('POST /');
      await server.close(20);
      assert.equal(await ended, '');
    });
  });

  describe('refuses to start', () => {
    it('on a port that is in use, and names the port', async () => {
      const other = createServer();
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const address = other.address();
      assert.ok(typeof address === 'object' && address !== null);
      try {
        const where = `127.0.0.1:${address.port} for the admission webhook`;
        const message = `${where} is in use by another process; stop it, or choose another port`;
        const refusal = { name: 'ConfigurationError', field: 'port', message };
        await assert.rejects(startTestServer({ port: address.port }), refusal);
      } finally {
        other.close();
      }
    });
  });
});
