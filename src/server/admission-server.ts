import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AdmissionLimits, defaultAdmissionLimits } from './admission-limits.ts';
import type { AdmissionRoute } from './admission-handler.ts';
import { createAdmissionObserver } from './admission-observer.ts';
import { createAdmissionPipeline } from './admission-pipeline.ts';
import { BodyBudget } from './body-budget.ts';
import { ConnectionGuard } from './connection-guard.ts';
import { type HttpAnswer, unavailable } from './http-answer.ts';
import { listenOn } from './listen-on.ts';
import type { LogPort, MonotonicClock } from './ports.ts';
import { receiveBody } from './receive-body.ts';
import { SecureContexts } from './secure-contexts.ts';
import type { ServerMetrics } from './server-metrics.ts';
import type { ServingPairs } from './serving-pairs.ts';
import { createTlsServer } from './tls-server.ts';
import { trackConnections } from './track-connections.ts';
import { refuseBody, writeAnswer } from './write-answer.ts';

export interface AdmissionServerOptions {
  /** e.g. `0.0.0.0`, or `127.0.0.1` for a process of one's own. */
  readonly bindAddress: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly routes: readonly AdmissionRoute[];
  readonly certificates: ServingPairs;
  readonly log: LogPort;
  readonly metrics: ServerMetrics;
  readonly clock: MonotonicClock;
  readonly limits?: Partial<AdmissionLimits>;
}

/** `draining`: still serving, but every answer ends its connection; `closing`: only what is in flight is still answered. */
export type ServerState = 'idle' | 'serving' | 'draining' | 'closing' | 'closed';

export interface AdmissionServer {
  readonly state: ServerState;
  /** Where it listens; undefined until {@link AdmissionServer.listen} has succeeded. */
  readonly address: { readonly address: string; readonly port: number } | undefined;
  /** @throws ConfigurationError when the address or port cannot be used. */
  listen(): Promise<void>;
  /** From now on every answer says `Connection: close`, so that clients move to other replicas one by one. Readiness should turn false with it. */
  drain(): void;
  /**
   * Stops accepting, ends idle connections, and waits for what is in flight, at most `timeout` milliseconds.
   * To lose nothing: drain, wait for longer than load balancers take to notice, then close.
   */
  close(timeout: number): Promise<void>;
}

/** The listener for the API server: HTTP/1.1 over TLS, the certificate by SNI, one pipeline for all paths. */
export function createAdmissionServer(options: AdmissionServerOptions): AdmissionServer {
  const { certificates, log, metrics, clock } = options;
  const limits: AdmissionLimits = { ...defaultAdmissionLimits, ...options.limits };
  const observer = createAdmissionObserver(log, metrics, clock);
  const admit = createAdmissionPipeline({ routes: options.routes, jsonBounds: limits.jsonBounds, observer });
  const budget = new BodyBudget({ bytes: limits.maxBufferedBytes, bodies: limits.maxConcurrentBodies });
  const guard = new ConnectionGuard(limits, () => {
    metrics.dropped('pressure');
  });
  const contexts = new SecureContexts(certificates);
  const server = createTlsServer(limits, contexts, log);
  const sockets = trackConnections(server, guard, metrics);
  let state: ServerState = 'idle';
  let inFlight = 0;
  metrics.readFrom(
    () => ({ inFlight, bufferedBytes: budget.used, connections: guard.size, unprovenConnections: guard.unproven }),
    () => certificates.expiries(),
  );

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const started = clock();
    let bodyBytes = 0;
    let kind = 'unknown';
    inFlight++;
    const overdue = setTimeout(() => request.socket.destroy(), limits.bodyTimeout + limits.answerTimeout);
    response.once('close', () => {
      clearTimeout(overdue);
      inFlight--;
    });
    const refuse = (answer: HttpAnswer): void => {
      refuseBody(request, response, answer, { timeout: limits.lingerTimeout, bytes: limits.lingerBytes });
      metrics.answered(kind, answer.status, (clock() - started) / 1000, 0, 0);
    };
    const reply = (answer: HttpAnswer): void => {
      if (response.destroyed) return;
      if (answer.status === 200) sockets.prove(request.socket);
      writeAnswer(response, answer, answer.close || state !== 'serving');
      metrics.answered(kind, answer.status, (clock() - started) / 1000, bodyBytes, answer.body.length);
    };
    if (state === 'closing' || state === 'closed') {
      refuse(unavailable('shutting down'));
      return;
    }
    const admitted = admit({
      method: request.method ?? '',
      url: request.url ?? '',
      contentType: request.headers['content-type'],
    });
    kind = admitted.kind;
    if ('answer' in admitted) {
      refuse(admitted.answer);
      return;
    }
    const bounds = {
      maxBytes: limits.maxBodyBytes,
      timeout: Math.min(limits.bodyTimeout, admitted.timeout ?? Infinity),
      budget,
      expendable: !sockets.isProven(request.socket),
      inspect: admitted.inspect,
    };
    receiveBody(request, bounds, (body) => {
      if (body === undefined) return;
      if (!Buffer.isBuffer(body)) {
        refuse(body);
        return;
      }
      bodyBytes = body.length;
      const answer = admitted.respond(body);
      if (answer instanceof Promise) void answer.then(reply);
      else reply(answer);
    });
  }

  server.on('request', onRequest);
  return {
    get state() {
      return state;
    },
    get address() {
      const address = server.address() as AddressInfo | null;
      return address === null ? undefined : { address: address.address, port: address.port };
    },
    async listen() {
      await listenOn(server, options.bindAddress, options.port, 'the admission webhook');
      state = 'serving';
    },
    drain() {
      if (state === 'serving') state = 'draining';
    },
    async close(timeout) {
      if (state === 'closing' || state === 'closed') return;
      state = 'closing';
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          guard.destroyAll();
        }, timeout);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
      });
      state = 'closed';
    },
  };
}
