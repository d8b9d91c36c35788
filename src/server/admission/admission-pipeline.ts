import { type AdmissionDecision, denied, type AdmissionRequest, reviewVersions } from './admission-decision.ts';
import type { AdmissionRoute, HeavyHandler, ReviewVerdict, RouteHandler } from './admission-handler.ts';
import type { AdmissionObserver } from '../metrics/admission-observer.ts';
import { type DecisionMemory, decisionKey } from './decision-memory.ts';
import { decodeAdmissionReview, type MalformedReview } from './decode-admission-review.ts';
import { encodeDecision, joinReview } from './encode-admission-review.ts';
import { parseGoDuration } from '../../inject/mesh/go-duration.ts';
import { type HttpAnswer, jsonAnswer, textAnswer, unavailable } from '../http/http-answer.ts';
import { type JsonBounds, JsonScanner } from './json-scanner.ts';

export interface RequestHead {
  readonly method: string;
  /** The URL of the request line, e.g. `/revisions/default/0a1b2c3d/inject?timeout=5s`. */
  readonly url: string;
  readonly contentType: string | undefined;
  /** The Content-Length in bytes; undefined if the client did not send it. */
  readonly contentLength: number | undefined;
}

/** Either an answer that needs no body, or functions that handle the body. */
export type AdmittedRequest = { readonly kind: string } & (
  | { readonly answer: HttpAnswer }
  | {
      /** The webhook's timeout in milliseconds, from the query. */
      readonly timeout: number | undefined;
      /** Inspects a piece of the body on arrival. Returns an answer to refuse the body. */
      readonly inspect: (piece: Buffer) => HttpAnswer | undefined;
      /** Answers the whole body, after all its pieces were inspected. Never throws or rejects. */
      readonly respond: (body: Buffer) => HttpAnswer | Promise<HttpAnswer>;
    }
);

export interface AdmissionPipelineOptions {
  readonly routes: readonly AdmissionRoute[];
  readonly jsonBounds: JsonBounds;
  readonly memory: DecisionMemory;
  readonly observer: AdmissionObserver;
}

/**
 * Creates the admission pipeline from bytes to bytes: path → method → route → type → decode →
 * handler → encode. It needs no socket. Unknown paths get 404, other methods 405, paths without a
 * loaded injector 503, and all other requests 200 with a decision.
 */
export function createAdmissionPipeline(options: AdmissionPipelineOptions): (head: RequestHead) => AdmittedRequest {
  const { routes, jsonBounds, memory, observer } = options;

  function admit(head: RequestHead): AdmittedRequest {
    const queryStart = head.url.indexOf('?');
    const path = decodedPath(queryStart === -1 ? head.url : head.url.slice(0, queryStart));
    if (path === undefined)
      return { kind: 'unknown', answer: textAnswer(400, 'the path is not valid percent-encoding') };
    for (const route of routes) {
      const target = route.resolve(path);
      if (target === undefined) continue;
      const { kind } = route;
      if ('page' in target) {
        const isRead = head.method === 'GET' || head.method === 'HEAD';
        const refusal = textAnswer(405, `${path} requires GET, not ${head.method}`, { Allow: 'GET, HEAD' });
        return { kind, answer: isRead ? target.page() : refusal };
      }
      if (head.method !== 'POST')
        return { kind, answer: textAnswer(405, `${path} requires POST, not ${head.method}`, { Allow: 'POST' }) };
      if ('unavailable' in target) return { kind, answer: unavailable(target.unavailable) };
      if (!isJson(head.contentType))
        return { kind, answer: textAnswer(415, 'invalid Content-Type, want `application/json`') };
      const timeout = queryStart === -1 ? undefined : timeoutOf(head.url.slice(queryStart + 1));
      return {
        kind,
        timeout,
        inspect: (head.contentLength ?? Infinity) <= smallBody ? () => undefined : inspector(kind),
        respond: (body) => respond(kind, path, target, body, timeout),
      };
    }
    return { kind: 'unknown', answer: textAnswer(404, 'unknown path') };
  }

  function inspector(kind: string): (piece: Buffer) => HttpAnswer | undefined {
    const scanner = new JsonScanner(jsonBounds);
    return (piece) => {
      const problem = scanner.scan(piece);
      if (problem === undefined) return undefined;
      observer.malformed(kind, `the body ${problem}`);
      return textAnswer(400, `the body ${problem}`);
    };
  }

  function respond(
    kind: string,
    path: string,
    target: RouteHandler,
    body: Buffer,
    timeout: number | undefined,
  ): HttpAnswer | Promise<HttpAnswer> {
    if (body.length === 0) return textAnswer(400, 'no body found');
    const started = observer.started();
    const { handler, worker, afterResponse } = target;
    const { maxDepth } = jsonBounds;
    const dependencies = target.dependencies?.();
    const key = dependencies === undefined || !memory.accepts(body.length) ? undefined : decisionKey(path, body);
    if (dependencies !== undefined && key !== undefined) {
      const known = memory.find(key, dependencies);
      if (known !== undefined) {
        observer.decided(kind, { ...known.request, uid: key.uid }, known.decision, started, true);
        if (afterResponse !== undefined) callLater(afterResponse, known.request, known.decision, body);
        return jsonAnswer(joinReview(key.version, key.uid, known.encoded));
      }
    }
    const finish = ({ version, request, decision, encoded, dependencies: since }: ReviewVerdict): HttpAnswer => {
      observer.decided(kind, request, decision, started);
      // The uids differ if the body contains a second uid, which overrides the first.
      if (since !== undefined && key?.uid === request.uid && decision.reason !== 'Internal') {
        memory.remember(key, since, { request, decision, encoded });
      }
      if (afterResponse !== undefined) callLater(afterResponse, request, decision, body);
      return jsonAnswer(joinReview(version, request.uid, encoded));
    };
    // If the version is unknown, refuse in the newest version.
    const malformed = ({ problem, version = reviewVersions[0], uid }: MalformedReview): HttpAnswer => {
      observer.malformed(kind, problem, uid);
      const refusal = denied('MalformedReview', 400, problem);
      return jsonAnswer(joinReview(version, uid ?? '', encodeDecision(refusal)));
    };
    const decideOn = async (decide: HeavyHandler): Promise<HttpAnswer> => {
      const keepsBody = key !== undefined || afterResponse !== undefined;
      const verdict = await decide({ body, maxDepth, keepsBody, timeout });
      if ('unavailable' in verdict) return unavailable(verdict.unavailable);
      return 'problem' in verdict ? malformed(verdict) : finish(verdict);
    };
    if (worker !== undefined && body.length > heavyBytes) return decideOn(worker);
    const review = decodeAdmissionReview(body, maxDepth);
    if ('problem' in review) return malformed(review);
    if (worker !== undefined && review.values > heavyValues) return decideOn(worker);
    const { version, request } = review;
    const done = (decision: AdmissionDecision): HttpAnswer =>
      finish({ version, request, decision, encoded: encodeDecision(decision), dependencies });
    const fail = (error: unknown): HttpAnswer => {
      observer.defect(error);
      return done(denied('Internal', 500, 'internal error of the injector; see its log'));
    };
    try {
      const decision = handler(request);
      if (decision instanceof Promise) return decision.then(done).catch(fail);
      // The worker has higher limits.
      return worker !== undefined && decision.reason === 'TemplateLimit' ? decideOn(worker) : done(decision);
    } catch (error) {
      return fail(error);
    }
  }

  /** Runs the callback in the next turn of the event loop, after the answer is written. */
  function callLater(
    afterResponse: NonNullable<RouteHandler['afterResponse']>,
    request: AdmissionRequest,
    decision: AdmissionDecision,
    body: Buffer,
  ): void {
    setImmediate(() => {
      try {
        afterResponse(request, decision, body);
      } catch (error) {
        observer.defect(error);
      }
    });
  }

  return admit;
}

/** Percent-decodes a path once, including `%2F`, as Go does for `URL.Path`. */
function decodedPath(path: string): string | undefined {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === 'application/json') return true;
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** Returns the milliseconds of the webhook's timeout, which the API server adds to the query. */
function timeoutOf(query: string): number | undefined {
  const value = new URLSearchParams(query).get('timeout');
  if (value === null) return undefined;
  try {
    const { seconds, nanos } = parseGoDuration(value);
    const milliseconds = Number(seconds) * 1000 + nanos / 1e6;
    return milliseconds > 0 ? milliseconds : undefined;
  } catch {
    return undefined;
  }
}

/** The size in bytes, and the number of values, above which a review goes to the worker (ADR 5). */
const heavyBytes = 128 * 1024;
const heavyValues = 2000;

/** The size in bytes up to which bodies are not scanned, because they are cheap to parse. */
const smallBody = 64 * 1024;
