import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { applyJsonPatch } from '../../inject/patch/apply-json-patch.ts';
import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';
import { allowed, denied } from './admission-decision.ts';
import type { AdmissionHandler } from './admission-handler.ts';
import { DecisionMemory } from './decision-memory.ts';
import { createAdmissionObserver } from '../metrics/admission-observer.ts';
import { createAdmissionPipeline, type RequestHead } from './admission-pipeline.ts';
import type { HttpAnswer } from '../http/http-answer.ts';
import { revisionRoute } from './pod-routes.ts';
import { ServerMetrics } from '../metrics/server-metrics.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { answeredReview, bytesOf, patchOf, reviewOf, somePod } from '../testdata/reviews.ts';
import { someSource } from '../testdata/some-injector.ts';

const inject = '/revisions/default/0a1b2c3d/inject';

/** The pipeline with the real revisions' route and one path whose handler a test chooses. */
function pipeline(handler: AdmissionHandler = () => allowed('Valid')) {
  const log = new RecordingLog();
  const registry = new Registry();
  const observer = createAdmissionObserver(log, new ServerMetrics(registry), () => 0);
  const admit = createAdmissionPipeline({
    routes: [
      revisionRoute(someSource, {
        inject: (_, { pod }) => {
          if (pod.spec === 'throw') throw new RangeError('Maximum call stack size exceeded');
          return { outcome: 'injected', pod, patch: [{ op: 'add', path: '/spec/hello', value: 1 }], warnings: [] };
        },
      }),
      { kind: 'test', resolve: (path) => (path === '/test' ? { handler } : undefined) },
    ],
    memory: new DecisionMemory({ maxBytes: 1_000_000, maxReviewBytes: 100_000 }),
    jsonBounds: { maxDepth: 100, maxValues: 5000 },
    observer,
  });
  async function answer(head: Partial<RequestHead>, body: Buffer): Promise<HttpAnswer> {
    const admitted = admit({
      method: 'POST',
      url: inject,
      contentType: 'application/json',
      contentLength: undefined,
      ...head,
    });
    if ('answer' in admitted) return admitted.answer;
    return admitted.inspect(body) ?? admitted.respond(body);
  }
  return { admit, answer, log, registry };
}

describe('the admission pipeline', () => {
  describe('HTTP', () => {
    const retry = { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '1' };
    for (const [what, head, status, message] of [
      ['an unknown path', { url: '/nowhere' }, 404, 'no such path'],
      ['the root', { url: '/' }, 404, 'no such path'],
      ['no path at all', { url: '' }, 404, 'no such path'],
      [
        'a path that is not percent-encoded',
        { url: '/revisions/%zz/0a1b2c3d/inject' },
        400,
        'the path is not valid percent-encoding',
      ],
      ['GET', { method: 'GET' }, 405, `${inject} takes POST, not GET`],
      ['GET of an unknown path', { method: 'GET', url: '/x' }, 404, 'no such path'],
      ['no content type', { contentType: undefined }, 415, 'invalid Content-Type, want `application/json`'],
      ['YAML', { contentType: 'application/yaml' }, 415, 'invalid Content-Type, want `application/json`'],
      [
        'a type that only begins so',
        { contentType: 'application/json-patch+json' },
        415,
        'invalid Content-Type, want `application/json`',
      ],
    ] as const) {
      it(`${what}: ${status}`, async () => {
        const answer = await pipeline().answer(head, bytesOf(reviewOf()));
        assert.deepEqual([answer.status, answer.body, answer.close], [status, `${message}\n`, true]);
        assert.equal(answer.headers.Allow, status === 405 ? 'POST' : undefined);
      });
    }

    it('503, to be tried again on another connection, while a configuration is not there', async () => {
      const answer = await pipeline().answer(
        { url: '/revisions/default/99999999/inject?timeout=10s' },
        bytesOf(reviewOf()),
      );
      assert.deepEqual(answer, {
        status: 503,
        headers: retry,
        body: 'this replica does not serve configuration 99999999 of default (yet)\n',
        close: true,
      });
    });

    it('an empty body: 400', async () => {
      assert.deepEqual(
        [(await pipeline().answer({}, Buffer.alloc(0))).status, (await pipeline().answer({}, Buffer.alloc(0))).body],
        [400, 'no body found\n'],
      );
    });

    for (const contentType of ['application/json', 'application/json; charset=utf-8', 'Application/JSON']) {
      it(`${contentType} is JSON`, async () => {
        assert.equal((await pipeline().answer({ contentType }, bytesOf(reviewOf()))).status, 200);
      });
    }

    it('decodes the path once, slashes too', async () => {
      assert.equal(
        (await pipeline().answer({ url: '/revisions/default%2F0a1b2c3d/%69nject' }, bytesOf(reviewOf()))).status,
        200,
      );
    });

    for (const [query, timeout] of [
      ['', undefined],
      ['?timeout=5s', 5000],
      ['?timeout=1m0s&x=y', 60_000],
      ['?timeout=soon', undefined],
      ['?other=5s', undefined],
    ] as const) {
      it(`the timeout of "${query}" is ${timeout ?? 'not given'}`, () => {
        const admitted = pipeline().admit({
          method: 'POST',
          url: `${inject}${query}`,
          contentType: 'application/json',
          contentLength: 10,
        });
        assert.ok('respond' in admitted);
        assert.equal(admitted.timeout, timeout);
      });
    }
  });

  describe('reviews', () => {
    for (const apiVersion of ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1']) {
      it(`answers ${apiVersion} in its own version`, async () => {
        const answer = await pipeline().answer({}, bytesOf(reviewOf({ uid: 'u-7' }, { apiVersion })));
        assert.deepEqual(
          [answer.status, answer.close, answer.headers],
          [200, false, { 'Content-Type': 'application/json' }],
        );
        const review = answeredReview(answer.body);
        assert.deepEqual([review.kind, review.apiVersion, review.response.uid], ['AdmissionReview', apiVersion, 'u-7']);
        assert.deepEqual(patchOf(review), [
          { op: 'add', path: '/spec/hello', value: 1 },
          { op: 'add', path: '/metadata/annotations', value: { 'sidecar-injector.io/config': 'default.0a1b2c3d' } },
        ]);
      });
    }

    it('a refusal without uid for what is not a review', async () => {
      const { answer, log } = pipeline();
      const { status, body } = await answer({}, bytesOf({ kind: 'Pod' }));
      const { response } = JSON.parse(body) as { response: { uid: string; allowed: boolean; status: object } };
      assert.deepEqual([status, response.uid, response.allowed], [200, '', false]);
      assert.deepEqual(response.status, {
        status: 'Failure',
        code: 400,
        reason: 'BadRequest',
        message: 'kind must be AdmissionReview, not "Pod"',
      });
      assert.deepEqual(log.lines, [
        {
          level: 'warn',
          message: 'malformed admission review',
          fields: { path: 'revision', problem: 'kind must be AdmissionReview, not "Pod"' },
        },
      ]);
    });

    for (const [what, body, problem] of [
      ['that nests too deeply', '['.repeat(101), 'the body nests deeper than 100 levels'],
      ['of too many values', `[${'{},'.repeat(3000)}`, 'the body holds more than 5000 values'],
    ] as const) {
      it(`400 for a body ${what}`, async () => {
        const { answer, log } = pipeline();
        const given = await answer({}, Buffer.from(body));
        assert.deepEqual([given.status, given.body], [400, `${problem}\n`]);
        assert.deepEqual(log.lines[0]?.fields, { path: 'revision', problem });
      });
    }

    it('refuses a review whose members have the wrong type, with its uid', async () => {
      const { answer, log } = pipeline();
      const { status, body } = await answer({}, bytesOf(reviewOf({ namespace: 5 })));
      assert.equal(status, 200);
      const { response } = answeredReview(body);
      assert.deepEqual([response.uid, response.allowed, response.status?.code], ['uid-1', false, 400]);
      assert.equal(response.status?.message, 'request.namespace must be a string, not a number');
      assert.equal(log.lines[0]?.fields.uid, 'uid-1');
    });

    for (const [what, handler] of [
      [
        'at once',
        () => {
          throw new Error('secret: hunter2');
        },
      ],
      ['later', () => Promise.reject(new Error('secret: hunter2'))],
      ['with what is not an error', () => Promise.reject(JSON.parse('{"secret":"hunter2"}') as Error)],
    ] as const) {
      it(`answers a handler that fails ${what}, and does not say how`, async () => {
        const { answer, log } = pipeline(handler);
        const { status, body } = await answer({ url: '/test' }, bytesOf(reviewOf()));
        assert.equal(status, 200);
        const { response } = answeredReview(body);
        assert.deepEqual([response.uid, response.allowed, response.status?.code], ['uid-1', false, 500]);
        assert.doesNotMatch(body, /hunter2/);
        assert.deepEqual(
          log.lines.map(({ level }) => level),
          ['error', 'warn'],
        );
      });
    }

    it('waits for a handler that takes its time', async () => {
      const { body } = await pipeline(() => Promise.resolve(denied('Invalid', 422, 'no'))).answer(
        { url: '/test' },
        bytesOf(reviewOf()),
      );
      assert.equal(answeredReview(body).response.status?.code, 422);
    });
  });

  it('injects with the real engine, and its patch fits the pod', async () => {
    const admit = createAdmissionPipeline({
      routes: [revisionRoute(someSource)],
      memory: new DecisionMemory({ maxBytes: 0, maxReviewBytes: 0 }),
      jsonBounds: { maxDepth: 100, maxValues: 5000 },
      observer: createAdmissionObserver(new RecordingLog(), new ServerMetrics(new Registry()), () => 0),
    });
    const admitted = admit({ method: 'POST', url: inject, contentType: 'application/json', contentLength: 10 });
    assert.ok('respond' in admitted);
    const { body } = await admitted.respond(bytesOf(reviewOf()));
    const injected = applyJsonPatch(
      somePod,
      patchOf(answeredReview(body)) as JsonPatchOperation[],
    ) as typeof somePod & {
      metadata: { annotations: Record<string, string> };
    };
    assert.deepEqual(injected.spec.containers.map(({ name }) => name).sort(), ['hello', 'web']);
    assert.equal(injected.metadata.annotations['sidecar-injector.io/config'], 'default.0a1b2c3d');
    assert.equal(injected.metadata.annotations['sidecar.istio.io/status']?.includes('hello'), true);
  });

  describe('what is seen of it', () => {
    it('a line at debug for what goes well', async () => {
      const { answer, log } = pipeline();
      await answer({}, bytesOf(reviewOf({ dryRun: true })));
      const fields = {
        uid: 'uid-1',
        path: 'revision',
        operation: 'CREATE',
        namespace: 'shop',
        name: 'web-6d4f-',
        outcome: 'injected',
        reason: 'Injected',
        milliseconds: 0,
        dryRun: true,
        config: 'default.0a1b2c3d',
      };
      assert.deepEqual(log.lines, [{ level: 'debug', message: 'admission', fields }]);
    });

    it('a warning with the uid for what is refused', async () => {
      const { answer, log } = pipeline(() => denied('Invalid', 422, 'because'));
      await answer({ url: '/test' }, bytesOf(reviewOf({ name: 'mine', object: { metadata: 5 } })));
      const [line] = log.lines;
      assert.deepEqual(
        [line?.level, line?.fields.uid, line?.fields.name, line?.fields.problem],
        ['warn', 'uid-1', 'mine', 'because'],
      );
    });

    it('metrics with bounded labels', async () => {
      const { answer, registry } = pipeline();
      await answer({}, bytesOf(reviewOf()));
      await answer({ url: '/test' }, bytesOf(reviewOf()));
      const text = await registry.metrics();
      assert.match(
        text,
        /injector_admission_decisions_total\{path="revision",injector="default",outcome="injected",reason="Injected"\} 1/,
      );
      assert.match(
        text,
        /injector_admission_decisions_total\{path="test",injector="",outcome="allowed",reason="Valid"\} 1/,
      );
      assert.match(text, /sidecar_injection_requests_total 1\n/);
      assert.match(text, /sidecar_injection_success_total 1\n/);
      assert.match(text, /sidecar_injection_time_seconds_count 1\n/);
    });
  });

  describe('any input', () => {
    const { answer } = pipeline();
    const statuses = new Set([200, 400, 404, 405, 415, 503]);

    async function isAnswered(head: Partial<RequestHead>, body: Buffer): Promise<HttpAnswer> {
      const given = await answer(head, body);
      assert.ok(statuses.has(given.status), `status ${given.status}`);
      assert.equal(typeof given.body, 'string');
      assert.equal(given.status === 503, given.headers['Retry-After'] !== undefined);
      if (given.status !== 200) return given;
      const { response, apiVersion } = answeredReview(given.body);
      assert.match(apiVersion, /^admission\.k8s\.io\/v1(beta1)?$/);
      assert.equal(response.patch === undefined, response.patchType === undefined);
      assert.ok(response.allowed || (response.status?.code ?? 0) >= 400);
      return given;
    }

    it('is answered', async () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json(),
        fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
      );
      await fc.assert(
        fc.asyncProperty(text, fc.string(), fc.option(fc.string()), async (body, path, contentType) => {
          await isAnswered({}, Buffer.from(body, 'latin1'));
          await isAnswered({ url: `/${path}`, contentType: contentType ?? undefined }, Buffer.from(body));
        }),
      );
    });

    it('with an AdmissionReview around it is answered with its uid', async () => {
      const members = [
        'kind',
        'resource',
        'subResource',
        'name',
        'namespace',
        'operation',
        'object',
        'oldObject',
        'dryRun',
        'options',
        '__proto__',
      ];
      const changes = fc.dictionary(fc.constantFrom(...members), fc.oneof(fc.jsonValue(), fc.constant(somePod)));
      await fc.assert(
        fc.asyncProperty(fc.string({ minLength: 1 }), changes, async (uid, change) => {
          const { status, body } = await isAnswered({}, bytesOf(reviewOf({ ...change, uid })));
          assert.equal(status, 200);
          assert.equal(answeredReview(body).response.uid, uid);
        }),
      );
    });

    it('is answered when the engine breaks on it', async () => {
      const { body } = await isAnswered({}, bytesOf(reviewOf({ object: { spec: 'throw' } })));
      assert.equal(answeredReview(body).response.status?.reason, 'InternalError');
    });

    it('leaves no trace in what all objects inherit', async () => {
      const hostile =
        '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"CREATE",' +
        '"object":{"__proto__":{"polluted":1},"metadata":{"annotations":{"__proto__":"x","constructor":{"prototype":{"polluted":1}}}}}}}';
      await isAnswered({}, Buffer.from(hostile));
      assert.equal(({} as { polluted?: number }).polluted, undefined);
    });
  });
});
