import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { Registry } from 'prom-client';
import type { AdmissionLimits } from '../admission-limits.ts';
import type { AdmissionRoute } from '../admission/admission-handler.ts';
import { type AdmissionServer, createAdmissionServer } from '../admission-server.ts';
import { revisionRoute } from '../admission/pod-routes.ts';
import { ServerMetrics } from '../metrics/server-metrics.ts';
import type { LogPort } from '../ports.ts';
import { TestPairs, testAuthority } from './certificates.ts';
import { RecordingLog } from './recording-log.ts';
import { bytesOf, injectPath, reviewOf } from './reviews.ts';
import { someSource } from './some-injector.ts';

export const serverName = 'first.test.svc';

type Settings = { port?: number; limits?: Partial<AdmissionLimits>; routes?: readonly AdmissionRoute[]; revisions?: AdmissionRoute; logger?: LogPort };

/** Starts a listener on a free port, with a certificate for `first.test.svc`, and a client. */
export async function startTestServer(settings: Settings = {}) {
  const authority = await testAuthority();
  const pairs = new TestPairs();
  const pair = authority.issue('first');
  pairs.byName.set(serverName, pair);
  pairs.fallback = pair;
  const log = new RecordingLog();
  const registry = new Registry();
  const inject = revisionRoute(someSource, { inject: (_, { pod }) => ({
    outcome: 'injected',
    pod,
    patch: [{ op: 'add', path: '/spec/hello', value: 1 }],
    warnings: [],
  }) });
  const server: AdmissionServer = createAdmissionServer({
    bindAddress: '127.0.0.1',
    port: settings.port ?? 0,
    routes: [settings.revisions ?? inject, ...(settings.routes ?? [])],
    certificates: pairs,
    log: settings.logger ?? log,
    metrics: new ServerMetrics(registry),
    clock: () => performance.now(),
    limits: settings.limits ?? {},
  });
  await server.listen();
  const agent = new Agent({ keepAlive: true, ca: authority.caPem });
  const tlsOptions = { host: '127.0.0.1', port: server.address?.port ?? 0, ca: authority.caPem, servername: serverName };

  async function post(body: Buffer | string = bytesOf(reviewOf()), options: RequestOptions = {}) {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const request = httpsRequest({ ...tlsOptions, agent, method: 'POST', path: injectPath, headers, ...options });
    // Ignore errors after the start of the answer.
    request.on('error', () => undefined).end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // Equal client ports mean that answers came on the same connection.
    const { statusCode: status = 0, headers: answered, socket: { localPort } } = response;
    return { status, headers: answered, body: await text(response), localPort };
  }

  /** Opens a TLS connection for arbitrary bytes. */
  async function open(options: { allowHalfOpen?: boolean; localAddress?: string } = {}): Promise<TLSSocket> {
    const socket = connect({ ...tlsOptions, ...options }).on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  }

  async function stop(): Promise<void> {
    agent.destroy();
    await server.close(0);
  }
  return { server, pairs, authority, log, registry, post, open, stop };
}

type TestServer = Awaited<ReturnType<typeof startTestServer>>;

/** Returns a function that starts servers, which stop after each test. */
export function testServers(): (settings?: Parameters<typeof startTestServer>[0]) => Promise<TestServer> {
  const running: TestServer[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
  });
  return async (settings) => {
    const server = await startTestServer(settings);
    running.push(server);
    return server;
  };
}

/** Returns the head of a POST with a JSON body. */
export function postHead(contentLength: number, path = injectPath): string {
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${contentLength}\r\n\r\n`;
}

/** Returns everything that a socket receives until it closes. */
export async function received(socket: TLSSocket): Promise<string> {
  let all = '';
  socket.on('data', (chunk: Buffer) => (all += chunk.toString()));
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.on('close', resolve));
  return all;
}
