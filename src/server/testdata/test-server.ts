import { request as httpsRequest, Agent, type RequestOptions } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { Registry } from 'prom-client';
import type { AdmissionLimits } from '../admission-limits.ts';
import type { AdmissionRoute } from '../admission/admission-handler.ts';
import { type AdmissionServer, createAdmissionServer } from '../admission-server.ts';
import { revisionRoute } from '../admission/pod-routes.ts';
import { ServerMetrics } from '../metrics/server-metrics.ts';
import { TestPairs, testAuthority } from './certificates.ts';
import { RecordingLog } from './recording-log.ts';
import { bytesOf, reviewOf } from './reviews.ts';
import { someSource } from './some-injector.ts';

export const injectPath = '/revisions/default/0a1b2c3d/inject';
export const serverName = 'first.test.svc';

export interface TestAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
  /** The client's port: the same for two answers on one connection. */
  readonly localPort: number | undefined;
}

/** A listener on a free loopback port, with a certificate for `first.test.svc` which is also the default one, and a client. */
export async function startTestServer(settings: { port?: number; limits?: Partial<AdmissionLimits>; routes?: readonly AdmissionRoute[] } = {}) {
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
    routes: [inject, ...(settings.routes ?? [])],
    certificates: pairs,
    log,
    metrics: new ServerMetrics(registry),
    clock: () => performance.now(),
    limits: settings.limits ?? {},
  });
  await server.listen();
  const agent = new Agent({ keepAlive: true, ca: authority.caPem });
  const tlsOptions = { host: '127.0.0.1', port: server.address?.port ?? 0, ca: authority.caPem, servername: serverName };

  function post(body: Buffer | string = bytesOf(reviewOf()), options: RequestOptions = {}): Promise<TestAnswer> {
    return new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
      const request = httpsRequest({ ...tlsOptions, agent, method: 'POST', path: injectPath, headers, ...options }, (response) => {
        const localPort = response.socket.localPort;
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString(), localPort });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** A TLS connection on which a test writes what it likes. */
  function open(options: { servername?: string; allowHalfOpen?: boolean; localAddress?: string } = {}): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ ...tlsOptions, ...options }, () => {
        resolve(socket);
      });
      socket.on('error', reject);
    });
  }

  return {
    server,
    pairs,
    authority,
    log,
    registry,
    post,
    open,
    async stop() {
      agent.destroy();
      await server.close(0);
    },
  };
}

/** Everything that a socket sends until it ends. */
export function received(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve(text);
    });
  });
}
