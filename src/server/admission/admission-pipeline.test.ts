import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyJsonPatch } from '../../inject/patch/testdata/apply-json-patch.ts';
import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';
import { allowed, denied } from './admission-decision.ts';
import type { AdmissionHandler } from './admission-handler.ts';
import type { RequestHead } from './admission-pipeline.ts';
import type { HttpAnswer } from '../http/http-answer.ts';
import { revisionRoute } from './pod-routes.ts';
import { pipelineOf } from '../testdata/pipeline.ts';
import { answeredReview, bytesOf, injectPath, patchOf, reviewOf, somePod } from '../testdata/reviews.ts';
import { someSource } from '../testdata/some-injector.ts';

/** Returns a pipeline with the real revision route, and a path whose handler a test chooses. */
const pipeline = (handler: AdmissionHandler = () => allowed('Valid')) =>
  pipelineOf([
    revisionRoute(someSource, {
      inject: (_, { pod }) => {
        if (pod.spec === 'throw') throw new RangeError('Maximum call stack size exceeded');
        return { outcome: 'injected', pod, patch: [{ op: 'add', path: '/spec/hello', value: 1 }], warnings: [] };
      },
    }),
    { kind: 'test', resolve: (path) => (path === '/test' ? { handler } : undefined) },
  ]);
const review = bytesOf(reviewOf());

describe('the admission pipeline', () => {
  describe('HTTP', () => {
    const retry = { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '1' };
    const [notFound, badType] = ['unknown path', 'invalid Content-Type, want `application/json`'];
    const badPath = 'the path is not valid percent-encoding';
    for (const [what, head, status, message] of [
      ['an unknown path', { url: '/nowhere' }, 404, notFound],
      ['the root', { url: '/' }, 404, notFound],
      ['an empty path', { url: '' }, 404, notFound],
      ['a path with invalid percent-encoding', { url: '/revisions/%zz/0a1b2c3d/inject' }, 400, badPath],
      ['GET', { method: 'GET' }, 405, `${injectPath} requires POST, not GET`],
      ['GET of an unknown path', { method: 'GET', url: '/x' }, 404, notFound],
      ['a missing content type', { contentType: undefined }, 415, badType],
      ['YAML', { contentType: 'application/yaml' }, 415, badType],
      ['another content type', { contentType: 'application/json-patch+json' }, 415, badType],
    ] as const) {
      it(`answers ${status} to ${what}`, async () => {
        const answer = await pipeline().answer(review, head);
        assert.deepEqual([answer.status, answer.body, answer.close], [status, `${message}\n`, true]);
        assert.equal(answer.headers.Allow, status === 405 ? 'POST' : undefined);
      });
    }

    it('answers 503 while a configuration is not loaded, so that the API server retries on another connection', async () => {
      const answer = await pipeline().answer(review, { url: '/revisions/default/99999999/inject?timeout=10s' });
      assert.deepEqual(answer, {
        status: 503,
        headers: retry,
        body: 'this replica has not loaded configuration 99999999 of InjectorConfig default\n',
        close: true,
      });
    });

    it('answers 400 to an empty body', async () => {
      const { status, body } = await pipeline().answer(Buffer.alloc(0));
      assert.deepEqual([status, body], [400, 'no body found\n']);
    });

    for (const contentType of ['application/json', 'application/json; charset=utf-8', 'Application/JSON']) {
      it(`accepts ${contentType} as JSON`, async () => {
        assert.equal((await pipeline().answer(review, { contentType })).status, 200);
      });
    }

    it('decodes the path once, including slashes', async () => {
      const { status } = await pipeline().answer(review, { url: '/revisions/default%2F0a1b2c3d/%69nject' });
      assert.equal(status, 200);
    });

    for (const [query, timeout] of [
      ['', undefined],
      ['?timeout=5s', 5000],
      ['?timeout=1m0s&x=y', 60_000],
      ['?timeout=soon', undefined],
      ['?timeout=1.5s', 1500],
      ['?timeout=250us', 0.25],
      ['?timeout=0s', undefined],
      ['?timeout=-5s', undefined],
      [`?timeout=${'1'.repeat(200)}s`, undefined],
      ['?other=5s', undefined],
    ] as const) {
      it(`parses the timeout of "${query.slice(0, 20)}" as ${timeout ?? 'undefined'}`, () => {
        const { admit, head } = pipeline();
        const admitted = admit({ ...head, url: `${injectPath}${query}` });
        assert.ok('respond' in admitted);
        assert.equal(admitted.timeout, timeout);
      });
    }
  });

  describe('reviews', () => {
    for (const apiVersion of ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1']) {
      it(`answers a review of ${apiVersion} in the same version`, async () => {
        const { status, close, headers, body } = await pipeline().answer(
          bytesOf(reviewOf({ uid: 'u-7' }, { apiVersion })),
        );
        assert.deepEqual([status, close, headers], [200, false, { 'Content-Type': 'application/json' }]);
        const answered = answeredReview(body);
        const { kind, response } = answered;
        assert.deepEqual([kind, answered.apiVersion, response.uid], ['AdmissionReview', apiVersion, 'u-7']);
        assert.deepEqual(patchOf(answered), [
          { op: 'add', path: '/spec/hello', value: 1 },
          { op: 'add', path: '/metadata/annotations', value: { 'sidecar-injector.io/config': 'default.0a1b2c3d' } },
        ]);
      });
    }

    it('refuses a body that is not a review; the answer has an empty uid', async () => {
      const { answer, log } = pipeline();
      const { status, body } = await answer(bytesOf({ kind: 'Pod' }));
      const { response } = answeredReview(body);
      assert.deepEqual([status, response.uid, response.allowed], [200, '', false]);
      const problem = 'kind must be AdmissionReview, not "Pod"';
      const refusal = { status: 'Failure', code: 400, reason: 'BadRequest', message: problem };
      assert.deepEqual(response.status, refusal);
      const line = { level: 'warn', message: 'malformed admission review', fields: { path: 'revision', problem } };
      assert.deepEqual(log.lines, [line]);
    });

    for (const [what, body, problem] of [
      ['that nests too deeply', '['.repeat(101), 'the body nests deeper than 100 levels'],
      ['with too many values', `[${'{},'.repeat(3000)}`, 'the body contains more than 5000 values'],
    ] as const) {
      it(`answers 400 to a body ${what}`, async () => {
        const { answer, log } = pipeline();
        const result = await answer(Buffer.from(body));
        assert.deepEqual([result.status, result.body], [400, `${problem}\n`]);
        assert.deepEqual(log.lines[0]?.fields, { path: 'revision', problem });
      });
    }

    it('refuses a review with a field of the wrong type, and returns its uid', async () => {
      const { answer, log } = pipeline();
      const { status, body } = await answer(bytesOf(reviewOf({ namespace: 5 })));
      assert.equal(status, 200);
      const { response } = answeredReview(body);
      assert.deepEqual([response.uid, response.allowed, response.status?.code], ['uid-1', false, 400]);
      assert.equal(response.status?.message, 'request.namespace must be a string, not a number');
      assert.equal(log.lines[0]?.fields.uid, 'uid-1');
    });

    const throwing = (): never => {
      throw new Error('secret: hunter2');
    };
    for (const [what, handler] of [
      ['synchronously', throwing],
      ['asynchronously', () => Promise.reject(new Error('secret: hunter2'))],
      ['with a value that is not an Error', () => Promise.reject(JSON.parse('{"secret":"hunter2"}') as Error)],
    ] as const) {
      it(`answers an internal error without details if a handler fails ${what}`, async () => {
        const { answer, log } = pipeline(handler);
        const { status, body } = await answer(review, { url: '/test' });
        assert.equal(status, 200);
        const { response } = answeredReview(body);
        assert.deepEqual([response.uid, response.allowed, response.status?.code], ['uid-1', false, 500]);
        assert.doesNotMatch(body, /hunter2/);
        assert.equal(log.lines.map(({ level }) => level).join(), 'error,warn');
      });
    }

    const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
    const annotations = Object.fromEntries(many(9000, '').map((text, index) => [`a${index}`, text]));
    it('decides pods with many values or bytes on the worker, and all others on the main thread', async () => {
      const worker = () => Promise.resolve({ unavailable: 'busy' });
      const resolve = () => ({ handler: () => allowed('Valid'), worker });
      const { answer } = pipelineOf([{ kind: 'test', resolve }], { maxValues: 500_000 });
      for (const [what, object, where] of [
        ['an ordinary pod', somePod, 'main thread'],
        ['2,000 values', { spec: { containers: many(1998, {}) } }, 'main thread'],
        ['2,001 values', { spec: { containers: many(1999, {}) } }, 'worker'],
        ['42,000 empty containers', { spec: { containers: many(42_000, {}) } }, 'worker'],
        ['9,000 annotations', { metadata: { annotations } }, 'worker'],
        ['9,000 managedFields', { metadata: { managedFields: many(9000, {}) } }, 'main thread'],
        ['a text of 128 KiB', { spec: { text: 'x'.repeat(128 * 1024) } }, 'worker'],
      ] as const) {
        const { status } = await answer(bytesOf(reviewOf({ object })));
        assert.equal(status === 503 ? 'worker' : 'main thread', where, what);
      }
    });

    it('retries on the worker only decisions that exceeded a limit of the main thread', async () => {
      const worker = () => Promise.resolve({ unavailable: 'busy' });
      for (const [reason, expected] of [
        ['TemplateLimit', 503],
        ['TemplateFailed', 200],
      ] as const) {
        const resolve = () => ({ handler: () => denied(reason, 500, 'no'), worker });
        const { status } = await pipelineOf([{ kind: 'test', resolve }]).answer(review);
        assert.equal(status, expected, reason);
      }
    });

    it('waits for an asynchronous handler', async () => {
      const { answer } = pipeline(() => Promise.resolve(denied('Invalid', 422, 'no')));
      const { body } = await answer(review, { url: '/test' });
      assert.equal(answeredReview(body).response.status?.code, 422);
    });
  });

  it('injects with the real engine and returns a patch that applies to the pod', async () => {
    const { body } = await pipelineOf([revisionRoute(someSource)]).answer(review);
    const patch = patchOf(answeredReview(body)) as JsonPatchOperation[];
    const injected = applyJsonPatch(somePod, patch) as typeof somePod & {
      metadata: { annotations: Record<string, string> };
    };
    assert.deepEqual(injected.spec.containers.map(({ name }) => name).sort(), ['hello', 'web']);
    assert.equal(injected.metadata.annotations['sidecar-injector.io/config'], 'default.0a1b2c3d');
    assert.equal(injected.metadata.annotations['sidecar.istio.io/status']?.includes('hello'), true);
  });

  describe('writes', () => {
    it('a log line at debug for an allowed review', async () => {
      const { answer, log } = pipeline();
      await answer(bytesOf(reviewOf({ dryRun: true })));
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

    it('a warning with the uid for a refused review', async () => {
      const { answer, log } = pipeline(() => denied('Invalid', 422, 'because'));
      await answer(bytesOf(reviewOf({ name: 'mine', object: { metadata: 5 } })), { url: '/test' });
      const { level, fields } = log.lines[0]!;
      assert.deepEqual([level, fields.uid, fields.name, fields.problem], ['warn', 'uid-1', 'mine', 'because']);
    });

    it('metrics with bounded labels', async () => {
      const { answer, registry } = pipeline();
      await answer(review);
      await answer(review, { url: '/test' });
      const text = await registry.metrics();
      for (const labels of [
        'path="revision",injector="default",outcome="injected",reason="Injected"',
        'path="test",injector="",outcome="allowed",reason="Valid"',
      ]) {
        assert.ok(text.includes(`injector_admission_decisions_total{${labels}} 1\n`), labels);
      }
      assert.match(text, /sidecar_injection_requests_total 1\n/);
      assert.match(text, /sidecar_injection_success_total 1\n/);
      assert.match(text, /sidecar_injection_time_seconds_count 1\n/);
    });
  });

  describe('any input', () => {
    const { answer } = pipeline();
    const statuses = new Set([200, 400, 404, 405, 415, 503]);

    async function isAnswered(body: Buffer, head: Partial<RequestHead> = {}): Promise<HttpAnswer> {
      const result = await answer(body, head);
      assert.ok(statuses.has(result.status), `status ${result.status}`);
      assert.equal(typeof result.body, 'string');
      assert.equal(result.status === 503, result.headers['Retry-After'] !== undefined);
      if (result.status !== 200) return result;
      const { response, apiVersion } = answeredReview(result.body);
      assert.match(apiVersion, /^admission\.k8s\.io\/v1(beta1)?$/);
      assert.equal(response.patch === undefined, response.patchType === undefined);
      assert.ok(response.allowed || (response.status?.code ?? 0) >= 400);
      return result;
    }

    it('is answered', async () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json(),
        fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
      );
      await fc.assert(
        fc.asyncProperty(text, fc.string(), fc.option(fc.string()), async (body, path, contentType) => {
          await isAnswered(Buffer.from(body, 'latin1'));
          await isAnswered(Buffer.from(body), { url: `/${path}`, contentType: contentType ?? undefined });
        }),
      );
    });

    it('is answered with its uid if it is an AdmissionReview', async () => {
      const { request } = reviewOf();
      const members = [...Object.keys(request as object), 'subResource', 'name', '__proto__'];
      const changes = fc.dictionary(fc.constantFrom(...members), fc.oneof(fc.jsonValue(), fc.constant(somePod)));
      await fc.assert(
        fc.asyncProperty(fc.string({ minLength: 1 }), changes, async (uid, change) => {
          const { status, body } = await isAnswered(bytesOf(reviewOf({ ...change, uid })));
          assert.equal(status, 200);
          assert.equal(answeredReview(body).response.uid, uid);
        }),
      );
    });

    it('is answered when the engine throws', async () => {
      const { body } = await isAnswered(bytesOf(reviewOf({ object: { spec: 'throw' } })));
      assert.equal(answeredReview(body).response.status?.reason, 'InternalError');
    });

    it('does not change Object.prototype', async () => {
      const hostile =
        '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","operation":"CREATE",' +
        '"object":{"__proto__":{"polluted":1},"metadata":{"annotations":{"__proto__":"x","constructor":{"prototype":{"polluted":1}}}}}}}';
      await isAnswered(Buffer.from(hostile));
      assert.equal(({} as { polluted?: number }).polluted, undefined);
    });
  });
});
