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

/** What the exchanges of one listener share. */
export interface ExchangeContext {
  readonly admit: (head: RequestHead) => AdmittedRequest;
  readonly limits: AdmissionLimits;
  readonly budget: BodyBudget;
  readonly sockets: TrackedConnections;
  readonly metrics: ServerMetrics;
  readonly clock: MonotonicClock;
  /** Whether answers are to end their connections. */
  leaving(): boolean;
  /** Whether nothing new is taken on. */
  closing(): boolean;
  /** Told when all is over. */
  ended(): void;
}

/** One request and its answer: head → body within bounds → answer, all of it within a time. */
export class AdmissionExchange {
  readonly #context: ExchangeContext;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #started: number;
  #kind = 'unknown';
  #bodyBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Gives the body up; undefined when none is being received. */
  #stopReceiving: (() => void) | undefined;

  constructor(context: ExchangeContext, request: IncomingMessage, response: ServerResponse) {
    this.#context = context;
    this.#request = request;
    this.#response = response;
    this.#started = context.clock();
    response.on('close', () => {
      clearTimeout(this.#timer);
      context.ended();
    });
  }

  run(): void {
    const { admit, limits, budget, sockets } = this.#context;
    const request = this.#request;
    if (this.#context.closing()) {
      this.#refuse(unavailable('shutting down'));
      return;
    }
    const head = requestHead(request);
    const admitted = admit(head);
    this.#kind = admitted.kind;
    if ('answer' in admitted) {
      this.#refuse(admitted.answer);
      return;
    }
    const time = Math.min(limits.bodyTimeout, admitted.timeout ?? Infinity);
    this.#timer = setTimeout(() => {
      this.#overdue();
    }, time);
    const bounds = {
      declaredBytes: head.contentLength,
      maxBytes: limits.maxBodyBytes,
      budget,
      expendable: !sockets.isProven(request.socket),
      inspect: admitted.inspect,
    };
    this.#stopReceiving = receiveBody(request, bounds, (body) => {
      this.#stopReceiving = undefined;
      if (body === undefined) return;
      if (!Buffer.isBuffer(body)) {
        this.#refuse(body);
        return;
      }
      this.#bodyBytes = body.length;
      const answer = admitted.respond(body);
      if (answer instanceof Promise) {
        void answer.then((later) => {
          this.#reply(later);
        });
      } else this.#reply(answer);
    });
  }

  #reply(answer: HttpAnswer): void {
    if (this.#response.destroyed) return;
    const { sockets, limits } = this.#context;
    const { socket } = this.#request;
    const isKept = answer.status === 200 || sockets.isProven(socket) ? sockets.prove(socket) : true;
    const isLast = sockets.countAnswer(socket) >= limits.requestsPerConnection;
    // Node's parser takes in nothing more on a connection on which another protocol was asked for.
    const deaf = this.#request.headers.upgrade !== undefined;
    writeAnswer(this.#response, answer, answer.close || !isKept || isLast || deaf || this.#context.leaving());
    this.#answered(answer.status, answer.body.length);
  }

  #refuse(answer: HttpAnswer): void {
    const { lingerTimeout, lingerBytes } = this.#context.limits;
    refuseBody(this.#request, this.#response, answer, { timeout: lingerTimeout, bytes: lingerBytes });
    this.#answered(answer.status, 0);
  }

  #answered(status: number, answerBytes: number): void {
    const { clock, metrics } = this.#context;
    metrics.answered(this.#kind, status, (clock() - this.#started) / 1000, this.#bodyBytes, answerBytes);
  }

  /** The body has had its time: it is refused if it is not there, and the answer gets a little more. */
  #overdue(): void {
    this.#timer = setTimeout(() => this.#request.socket.destroy(), this.#context.limits.answerTimeout);
    this.#stopReceiving?.();
  }
}

function requestHead(request: IncomingMessage): RequestHead {
  const { method = '', url = '', headers } = request;
  const length = headers['content-length'];
  // The parser has checked that it is a number, and holds the client to it.
  return {
    method,
    url,
    contentType: headers['content-type'],
    contentLength: length === undefined ? undefined : Number(length),
  };
}
