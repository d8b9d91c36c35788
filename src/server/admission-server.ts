import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AdmissionRoute } from './admission/admission-handler.ts';
import { createAdmissionPipeline, type RequestHead } from './admission/admission-pipeline.ts';
import { DecisionMemory } from './admission/decision-memory.ts';
import { type AdmissionLimits, defaultAdmissionLimits } from './admission-limits.ts';
import { BodyBudget } from './http/body-budget.ts';
import { ConnectionGuard } from './http/connection-guard.ts';
import { type HttpAnswer, unavailable } from './http/http-answer.ts';
import { listenOn } from './http/listen-on.ts';
import { receiveBody } from './http/receive-body.ts';
import { type ServingPairs, createTlsServer } from './http/tls-server.ts';
import { trackConnections } from './http/track-connections.ts';
import { refuseBody, writeAnswer } from './http/write-answer.ts';
import { createAdmissionObserver } from './metrics/admission-observer.ts';
import type { FailedInjections } from './metrics/failed-injections.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';
import type { LogPort, MonotonicClock } from './ports.ts';

export interface AdmissionServerOptions {
  readonly bindAddress: string;
  /** Port 0 chooses a free port. */
  readonly port: number;
  readonly routes: readonly AdmissionRoute[];
  readonly certificates: ServingPairs;
  readonly log: LogPort;
  readonly metrics: ServerMetrics;
  readonly clock: MonotonicClock;
  readonly limits?: Partial<AdmissionLimits>;
  /** Records pods that could not be injected. */
  readonly failed?: Pick<FailedInjections, 'note'>;
}

/**
 * While `draining` and `leaving`, each answer closes its connection; while `leaving`, the kubelet's
 * probe fails, too; while `closing`, requests are refused.
 */
export type ServerState = 'idle' | 'serving' | 'draining' | 'leaving' | 'closing' | 'closed';

export type AdmissionServer = ReturnType<typeof createAdmissionServer>;

/** Creates the listener for the API server: HTTP/1.1 over TLS, with certificates chosen by SNI. */
export function createAdmissionServer(options: AdmissionServerOptions) {
  const { certificates, log, metrics, clock } = options;
  const limits: AdmissionLimits = { ...defaultAdmissionLimits, ...options.limits };
  const observer = createAdmissionObserver(log, metrics, clock, options.failed);
  const budget = new BodyBudget({ bytes: limits.maxBufferedBytes, bodies: limits.maxConcurrentBodies });
  const guard = new ConnectionGuard(limits, () => metrics.dropped('pressure'));
  const memory = new DecisionMemory(limits.decisions);
  const server = createTlsServer(limits, certificates, log);
  let state: ServerState = 'idle';
  let inFlight = 0;
  let requests = 0;
  const sockets = trackConnections(server, guard, metrics, limits);
  const admit = createAdmissionPipeline({ routes: options.routes, jsonBounds: limits.jsonBounds, memory, observer });
  metrics.readFrom(
    () => ({
      inFlight,
      bufferedBytes: budget.used,
      rememberedBytes: memory.bytes,
      connections: guard.size,
      unprovenConnections: guard.unproven,
    }),
    () => certificates.expiries(),
  );

  /** Handles one request within time limits: head → body within bounds → answer. */
  function exchange(request: IncomingMessage, response: ServerResponse): void {
    inFlight++;
    requests++;
    const { socket } = request;
    const started = clock();
    let kind = 'unknown';
    let bodyBytes = 0;
    let timer: NodeJS.Timeout | undefined;
    response.on('close', () => {
      clearTimeout(timer);
      inFlight--;
    });

    function answered(status: number, answerBytes: number): void {
      metrics.answered(kind, status, (clock() - started) / 1000, bodyBytes, answerBytes);
    }

    function refuse(answer: HttpAnswer): void {
      refuseBody(request, response, answer, { timeout: limits.lingerTimeout, bytes: limits.lingerBytes });
      answered(answer.status, 0);
    }

    function reply(answer: HttpAnswer): void {
      if (response.destroyed) return;
      const isKept = answer.status === 200 || sockets.isProven(socket) ? sockets.prove(socket) : true;
      const isLast = sockets.countAnswer(socket) >= limits.requestsPerConnection;
      // Node's parser reads nothing more on a connection after a request with Upgrade.
      const isUpgrade = request.headers.upgrade !== undefined;
      writeAnswer(response, answer, answer.close || !isKept || isLast || isUpgrade || state !== 'serving');
      answered(answer.status, answer.body.length);
    }

    if (state === 'closing' || state === 'closed') {
      refuse(unavailable('shutting down'));
      return;
    }
    const head = requestHead(request);
    const admitted = admit(head);
    kind = admitted.kind;
    if ('answer' in admitted) {
      refuse(admitted.answer);
      return;
    }
    const { inspect, respond, timeout = Infinity } = admitted;
    const bounds = {
      declaredBytes: head.contentLength,
      maxBytes: limits.maxBodyBytes,
      budget,
      expendable: !sockets.isProven(socket),
      inspect,
    };
    const stopReceiving = receiveBody(request, bounds, (body) => {
      if (body === undefined) return;
      if (!Buffer.isBuffer(body)) {
        refuse(body);
        return;
      }
      bodyBytes = body.length;
      const answer = respond(body);
      if (answer instanceof Promise) void answer.then(reply);
      else reply(answer);
    });
    timer = setTimeout(
      () => {
        // Refuse the incomplete body. The client has `answerTimeout` to read the answer.
        timer = setTimeout(() => socket.destroy(), limits.answerTimeout);
        stopReceiving?.();
      },
      Math.min(limits.bodyTimeout, timeout),
    );
  }
  server.on('request', exchange);

  return {
    get state() {
      return state;
    },
    /** The bound address; undefined until `listen` succeeds. */
    get address() {
      const address = server.address() as AddressInfo | null;
      return address === null ? undefined : { address: address.address, port: address.port };
    },
    /** How many requests have begun since the start. */
    get requests() {
      return requests;
    },
    /** @throws ConfigurationError if the address or port cannot be used */
    async listen() {
      await listenOn(server, options.bindAddress, options.port, 'the admission webhook');
      state = 'serving';
    },
    /** Sends `Connection: close` with every answer, so that clients move to other replicas. */
    drain() {
      if (state === 'serving') state = 'draining';
    },
    /** Announces that the port will be closed, so that kube-proxy no longer uses this replica. */
    leave() {
      if (state === 'draining') state = 'leaving';
    },
    /**
     * Stops accepting, closes idle connections, and waits up to `timeout` milliseconds for requests
     * in flight. To lose no request, first drain, and wait until load balancers have reacted.
     */
    async close(timeout: number) {
      if (state === 'closing' || state === 'closed') return;
      state = 'closing';
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => guard.destroyAll(), timeout);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
      });
      state = 'closed';
    },
  };
}

/** Node's parser has checked that Content-Length is a number, and enforces it. */
function requestHead({ method = '', url = '', headers }: IncomingMessage): RequestHead {
  const length = headers['content-length'];
  const contentLength = length === undefined ? undefined : Number(length);
  return { method, url, contentType: headers['content-type'], contentLength };
}
