import { type AdmissionDecision, denied, type AdmissionRequest, reviewVersions } from './admission-decision.ts';
import type { AdmissionRoute, HeavyReviews, ReviewVerdict, RouteHandler } from './admission-handler.ts';
import type { AdmissionObserver } from '../metrics/admission-observer.ts';
import { type DecisionMemory, questionOf } from './decision-memory.ts';
import { decodeAdmissionReview, type MalformedReview } from './decode-admission-review.ts';
import { encodeDecision, joinReview } from './encode-admission-review.ts';
import { parseGoDuration } from '../../inject/mesh/go-duration.ts';
import { type HttpAnswer, jsonAnswer, textAnswer, unavailable } from '../http/http-answer.ts';
import { type JsonBounds, JsonScanner } from './json-scanner.ts';

/** What is known of a request before its body. */
export interface RequestHead {
  readonly method: string;
  /** As on the request line, e.g. `/revisions/default/0a1b2c3d/inject?timeout=5s`. */
  readonly url: string;
  readonly contentType: string | undefined;
  /** Of the body, in bytes; undefined when the client does not say. */
  readonly contentLength: number | undefined;
}

/** Either the answer, which needs no body; or what to do with the body once it is there. */
export type AdmittedRequest = { readonly kind: string } & (
  | { readonly answer: HttpAnswer }
  | {
      /** The webhook's timeout in milliseconds, from the query; undefined when it is not given. */
      readonly timeout: number | undefined;
      /** Looks at a piece of the body as it arrives: the answer, when there is no need for the rest. */
      readonly inspect: (piece: Buffer) => HttpAnswer | undefined;
      /** Answers the whole body, every piece of which was inspected. Never throws, never rejects. */
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
 * The whole of admission between bytes and bytes: path → method → route → type → decode → handler → encode. No socket, so all of it runs in a test.
 * Unknown paths get 404, other methods 405, a path whose injector is not there 503, and everything else 200 with a verdict.
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
        const refusal = textAnswer(405, `${path} takes GET, not ${head.method}`, { Allow: 'GET, HEAD' });
        return { kind, answer: isRead ? target.page() : refusal };
      }
      if (head.method !== 'POST')
        return { kind, answer: textAnswer(405, `${path} takes POST, not ${head.method}`, { Allow: 'POST' }) };
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
    return { kind: 'unknown', answer: textAnswer(404, 'no such path') };
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
    const question = dependencies === undefined || !memory.takes(body.length) ? undefined : questionOf(path, body);
    if (dependencies !== undefined && question !== undefined) {
      const known = memory.find(question, dependencies);
      if (known !== undefined) {
        observer.decided(kind, { ...known.request, uid: question.uid }, known.decision, started, true);
        if (afterResponse !== undefined) callLater(afterResponse, known.request, known.decision, body);
        return jsonAnswer(joinReview(question.version, question.uid, known.encoded));
      }
    }
    const finish = ({ version, request, decision, encoded, dependencies: since }: ReviewVerdict): HttpAnswer => {
      observer.decided(kind, request, decision, started);
      // A second uid further on in the bytes would be the one that counts.
      if (since !== undefined && question?.uid === request.uid && decision.reason !== 'Internal') {
        memory.remember(question, since, { request, decision, encoded });
      }
      if (afterResponse !== undefined) callLater(afterResponse, request, decision, body);
      return jsonAnswer(joinReview(version, request.uid, encoded));
    };
    // What is not even a review is answered in the newest version, as a refusal like all others.
    const malformed = ({ problem, version = reviewVersions[0], uid }: MalformedReview): HttpAnswer => {
      observer.malformed(kind, problem, uid);
      const refusal = denied('MalformedReview', 400, problem);
      return jsonAnswer(joinReview(version, uid ?? '', encodeDecision(refusal)));
    };
    const decideElsewhere = async (elsewhere: HeavyReviews): Promise<HttpAnswer> => {
      const keepsBody = question !== undefined || afterResponse !== undefined;
      const verdict = await elsewhere.decide({ body, maxDepth, keepsBody, timeout });
      if ('unavailable' in verdict) return unavailable(verdict.unavailable);
      return 'problem' in verdict ? malformed(verdict) : finish(verdict);
    };
    if (worker !== undefined && body.length > heavyBytes) return decideElsewhere(worker);
    const review = decodeAdmissionReview(body, maxDepth);
    if ('problem' in review) return malformed(review);
    const { version, request } = review;
    const done = (decision: AdmissionDecision): HttpAnswer =>
      finish({ version, request, decision, encoded: encodeDecision(decision), dependencies });
    const fail = (error: unknown): HttpAnswer => {
      observer.defect(error);
      return done(denied('Internal', 500, 'internal error of the injector; its log says more'));
    };
    try {
      const decision = handler(request);
      if (decision instanceof Promise) return decision.then(done).catch(fail);
      return worker?.goesOn(decision) === true ? decideElsewhere(worker) : done(decision);
    } catch (error) {
      return fail(error);
    }
  }

  /** The exchange writes the answer in this turn of the event loop. */
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

/** As Go's `URL.Path`: percent-decoded once, `%2F` too. */
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

/** The API server puts the webhook's timeout into the query, as Go prints a duration; undefined for anything else. */
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

/** Bytes. Up to here a review takes no longer than a few milliseconds to decide (docs/adr/0005-a-lane-for-what-is-heavy.md). */
const heavyBytes = 128 * 1024;

/** Bytes. Up to here a body cannot hold so much that parsing it would be felt, so it is looked at afterwards, which is cheaper. */
const smallBody = 64 * 1024;
