import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdmissionLimits } from '../admission-limits.ts';
import type { AdmittedRequest, RequestHead } from './admission-pipeline.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import { type HttpAnswer, unavailable } from '../http/http-answer.ts';
import type { MonotonicClock } from '../ports.ts';
import { receiveBody } from '../http/receive-body.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { TrackedConnections } from '../http/track-connections.ts';
import { refuseBody, writeAnswer } from '../http/write-answer.ts';

export interface ExchangeContext {
  readonly admit: (head: RequestHead) => AdmittedRequest;
  readonly limits: AdmissionLimits;
  readonly budget: BodyBudget;
  readonly sockets: TrackedConnections;
  readonly metrics: ServerMetrics;
  readonly clock: MonotonicClock;
  /** Reports whether answers must close their connections. */
  leaving(): boolean;
  /** Reports whether to refuse new requests. */
  closing(): boolean;
  ended(): void;
}

/** Handles one request within time limits: head → body within bounds → answer. */
export function exchange(context: ExchangeContext, request: IncomingMessage, response: ServerResponse): void {
  const { admit, limits, budget, sockets, metrics, clock } = context;
  const { socket } = request;
  const started = clock();
  let kind = 'unknown';
  let bodyBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  response.on('close', () => {
    clearTimeout(timer);
    context.ended();
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
    writeAnswer(response, answer, answer.close || !isKept || isLast || isUpgrade || context.leaving());
    answered(answer.status, answer.body.length);
  }

  if (context.closing()) {
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
  const { maxBodyBytes: maxBytes } = limits;
  const bounds = {
    declaredBytes: head.contentLength,
    maxBytes,
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

/** Node's parser has checked that Content-Length is a number, and enforces it. */
function requestHead({ method = '', url = '', headers }: IncomingMessage): RequestHead {
  const length = headers['content-length'];
  const contentLength = length === undefined ? undefined : Number(length);
  return { method, url, contentType: headers['content-type'], contentLength };
}
