import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { ConfigurationError } from '../../api/errors.ts';
import { answerProbe, createHealthServer } from './health-server.ts';
import { listenerCheck } from './certificates-check.ts';
import type { ReadinessCheck } from './readiness.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { startTestServer } from '../testdata/test-server.ts';

describe('the health server', () => {
  const log = new RecordingLog();
  let problem: string | undefined;
  let broken = false;
  let server: ReturnType<typeof createHealthServer>;
  const checks: ReadinessCheck[] = [{ name: 'stores', check: () => problem }];
  const metrics = {
    contentType: 'text/plain',
    metrics: () => (broken ? Promise.reject(new Error('broken')) : Promise.resolve('a 1\n')),
  };
  const options = { bindAddress: '127.0.0.1', port: 0, checks, metrics, log };

  before(async () => {
    server = createHealthServer(options);
    assert.equal(server.address, undefined);
    await server.listen();
  });
  after(() => server.close());

  async function get(path: string): Promise<[number, string]> {
    const response = await fetch(`http://127.0.0.1:${server.address?.port ?? 0}${path}`);
    return [response.status, await response.text()];
  }

  it('serves /healthz and /metrics', async () => {
    assert.deepEqual(await get('/healthz'), [200, 'ok\n']);
    assert.deepEqual(await get('/metrics'), [200, 'a 1\n']);
  });

  it('serves /readyz and logs changes of readiness', async () => {
    problem = 'not synced';
    assert.deepEqual(await get('/readyz'), [503, '[-]stores not synced\nnot ready\n']);
    await get('/readyz');
    problem = undefined;
    assert.deepEqual(await get('/readyz'), [200, '[+]stores ok\nready\n']);
    await get('/readyz');
    assert.deepEqual(log.lines, [
      { level: 'warn', message: 'not ready', fields: { report: '[-]stores not synced\nnot ready' } },
      { level: 'info', message: 'ready', fields: {} },
    ]);
  });

  it('answers /startupz when the process is ready, and logs nothing', async () => {
    problem = 'not synced';
    const logged = log.lines.length;
    let answered = false;
    const answer = get('/startupz').finally(() => (answered = true));
    await get('/healthz');
    assert.equal(answered, false);
    problem = undefined;
    assert.deepEqual(await answer, [200, 'started\n']);
    assert.equal(log.lines.length, logged);
  });

  it('answers 500 if the metrics fail', async () => {
    broken = true;
    assert.deepEqual(await get('/metrics'), [500, 'internal error; see the log\n']);
    broken = false;
    const fields = { url: '/metrics', error: 'broken' };
    assert.deepEqual(log.lines.at(-1), { level: 'error', message: 'a probe failed', fields });
  });

  it('answers while clients hold more than 100 idle connections', async () => {
    const port = server.address?.port ?? 0;
    const idle = await Promise.all(
      Array.from({ length: 120 }, async () => {
        const socket = connect({ host: '127.0.0.1', port });
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      }),
    );
    assert.deepEqual(await get('/healthz'), [200, 'ok\n']);
    for (const socket of idle) socket.destroy();
  });

  it('refuses to start on a port that is in use', async () => {
    const port = server.address?.port ?? 0;
    const message = /^127\.0\.0\.1:\d+ for probes and metrics is in use by another process/;
    await assert.rejects(createHealthServer({ ...options, port }).listen(), { name: 'ConfigurationError', message });
  });

  it('rejects with the original error if the bind address cannot be resolved', async () => {
    const nowhere = createHealthServer({ ...options, bindAddress: 'no.such.host.invalid' });
    await assert.rejects(nowhere.listen(), (error) => !(error instanceof ConfigurationError));
  });
});

describe('listenerCheck', () => {
  it('fails before the server listens', () => {
    assert.equal(listenerCheck({ address: undefined }).check(), 'the listener has not started');
  });

  for (const address of ['127.0.0.1', '0.0.0.0']) {
    it(`passes if the handshake succeeds on ${address}`, async () => {
      const listener = await startTestServer();
      try {
        const { port = 0 } = listener.server.address ?? {};
        assert.equal(await listenerCheck({ address: { address, port } }).check(), undefined);
      } finally {
        await listener.stop();
      }
    });
  }

  it('fails if there is no listener, or if the listener does not speak TLS', async () => {
    const metrics = { contentType: '', metrics: () => Promise.resolve('') };
    const plain = createHealthServer({ bindAddress: '::1', port: 0, checks: [], metrics, log: new RecordingLog() });
    await plain.listen();
    const { port = 0 } = plain.address ?? {};
    const check = listenerCheck({ address: { address: '::', port } });
    assert.match((await check.check()) ?? '', /^the TLS handshake failed: /);
    await plain.close();
    assert.match((await check.check()) ?? '', /^the TLS handshake failed: .*ECONNREFUSED/);
  });
});

const sources = (problem?: string): Parameters<typeof answerProbe>[2] => ({
  checks: [
    { name: 'listener', check: () => undefined },
    { name: 'stores', check: () => problem },
  ],
  metrics: { contentType: 'text/x-metrics', metrics: () => Promise.resolve('a 1\n') },
  startWait: 1,
});

describe('answerProbe', () => {
  for (const [method, url, problem, status, body] of [
    ['GET', '/healthz', 'not synced', 200, 'ok\n'],
    ['HEAD', '/healthz', undefined, 200, 'ok\n'],
    ['GET', '/readyz', undefined, 200, '[+]listener ok\n[+]stores ok\nready\n'],
    ['GET', '/readyz?verbose', 'not synced', 503, '[+]listener ok\n[-]stores not synced\nnot ready\n'],
    ['GET', '/readyz?exclude=stores', 'not synced', 200, '[+]listener ok\n[+]stores excluded: ok\nready\n'],
    ['GET', '/readyz?exclude=a&exclude=stores', 'not synced', 200, '[+]listener ok\n[+]stores excluded: ok\nready\n'],
    [
      'GET',
      '/readyz?exclude=listener',
      'not synced',
      503,
      '[+]listener excluded: ok\n[-]stores not synced\nnot ready\n',
    ],
    ['GET', '/startupz', undefined, 200, 'started\n'],
    ['GET', '/startupz', 'not synced', 200, 'started, but not ready\n'],
    ['GET', '/metrics', undefined, 200, 'a 1\n'],
    ['GET', '/', undefined, 404, 'unknown path; use /healthz, /readyz, /startupz or /metrics\n'],
    ['POST', '/healthz', undefined, 405, 'use GET\n'],
  ] as const) {
    it(`answers ${status} to ${method} ${url}${problem === undefined ? '' : ` while ${problem}`}`, async () => {
      const answer = await answerProbe(method, url, sources(problem));
      assert.deepEqual([answer.status, answer.body, answer.close], [status, body, false]);
    });
  }

  it('answers /startupz in time while a check hangs', async () => {
    const hanging = {
      ...sources(),
      checks: [{ name: 'listener', check: () => new Promise<undefined>(() => undefined) }],
    };
    const late = delay(2000, undefined, { ref: false });
    assert.equal(
      (await Promise.race([answerProbe('GET', '/startupz', hanging), late]))?.body,
      'started, but not ready\n',
    );
  });

  it('sets the content type of metrics', async () => {
    assert.deepEqual((await answerProbe('GET', '/metrics', sources())).headers, { 'Content-Type': 'text/x-metrics' });
  });
});
