import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import { ManualClock, settle } from '../../kube/testdata/manual-clock.ts';
import { type PathProbeOptions, type PathProbeResult, probePath, failedCallMessage } from './path-probe.ts';

const probe: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'ProbeWebhook',
  metadata: { name: 'sidecar-injector-probe-blue' },
};
const question = (nonce: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'sidecar-injector-probe-blue', namespace: 'injection' },
  data: { nonce },
});
const prefix = 'Internal error occurred: failed calling webhook "probe.sidecar-injector.io": failed to call webhook: ';
const failedCall = (what: string): ApiError =>
  new ApiError({ code: 500, reason: 'InternalError', message: prefix + what });

describe('probePath', () => {
  let clock: ManualClock;
  let steps: string[];
  let nonces: string[];
  /** The API server's answers to the dry runs, in order; the last one repeats. */
  let answers: ((request: KubernetesObject) => KubernetesObject)[];
  let stop: AbortController;
  let applied: () => KubernetesObject;
  beforeEach(() => {
    [clock, stop] = [new ManualClock(), new AbortController()];
    [steps, nonces] = [[], []];
    applied = () => probe;
  });

  const answering = (answer: string) => (request: KubernetesObject) => {
    return { ...request, data: { ...(request.data as object), answer, replica: 'replica-2' } };
  };
  const answered = (request: KubernetesObject) => answering((request.data as { nonce: string }).nonce)(request);
  const unchanged = (request: KubernetesObject): KubernetesObject => request;
  const fails = (error: Error) => (): never => {
    throw error;
  };
  const run = (): Promise<PathProbeResult> => {
    const options: PathProbeOptions = {
      clock,
      nonce: () => {
        nonces.push(`nonce-${nonces.length}`);
        return nonces.at(-1)!;
      },
      client: {
        create: (request, options) => {
          assert.equal(options?.dryRun, true);
          steps.push('ask');
          const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
          return Promise.resolve().then(() => answer(request as unknown as KubernetesObject) as never);
        },
      },
      webhooks: {
        apply: async () => {
          steps.push('create');
          const object = await Promise.resolve().then(applied);
          return { outcome: 'Created', object, difference: undefined, foreign: [], isRepair: false };
        },
        remove: () => Promise.resolve(void steps.push('delete')),
      },
    };
    return probePath(options, probe, question, stop.signal);
  };

  it('creates the probe webhook, sends a dry run, and deletes the probe webhook', async () => {
    answers = [answered];
    assert.deepEqual(await run(), { reached: true, replica: 'replica-2', milliseconds: 0 });
    assert.deepEqual(steps, ['create', 'ask', 'delete']);
  });

  it('retries with another nonce until the API server loads the probe webhook and Service', async () => {
    const notYet = fails(failedCall('service "sidecar-injector-blue" not found'));
    answers = [unchanged, notYet, answering('nonce-0'), answered];
    const result = run();
    await clock.advance(150);
    assert.deepEqual(await result, { reached: true, replica: 'replica-2', milliseconds: 150 });
    assert.deepEqual(nonces, ['nonce-0', 'nonce-1', 'nonce-2', 'nonce-3']);
  });

  const failures: [what: string, answer: (request: KubernetesObject) => KubernetesObject, message: RegExp][] = [
    ['missing answers', unchanged, /accepted the dry run without an answer from a replica/],
    ['failed calls', fails(failedCall('dial tcp: connection refused')), /connection refused; no process listens there/],
  ];
  for (const [what, answer, message] of failures) {
    it(`gives up after two seconds of ${what}, and deletes the probe webhook`, async () => {
      answers = [answer];
      const result = run();
      await clock.advance(2000);
      const outcome = await result;
      assert.ok(!outcome.reached && outcome.reason === 'NotReachable');
      assert.match(outcome.message, message);
      assert.equal(steps.at(-1), 'delete');
      assert.equal(steps.filter((step) => step === 'ask').length, 41);
    });
  }

  for (const [code, message] of [
    [403, 'admission webhook "policy.example.com" denied the request: no ConfigMaps'],
    [409, 'configmaps "sidecar-injector-probe-blue" already exists'],
    [422, 'data: Invalid value'],
  ] as const) {
    it(`reports immediately that another component rejects the dry run: ${message}`, async () => {
      answers = [fails(new ApiError({ code, reason: 'Refused', message }))];
      const outcome = await run();
      assert.ok(!outcome.reached && outcome.reason === 'ProbeRefused');
      assert.match(outcome.message, /ConfigMap sidecar-injector-probe-blue in namespace injection/);
      assert.ok(outcome.message.includes(message));
      assert.deepEqual(steps, ['create', 'ask', 'delete']);
    });
  }

  for (const error of [
    new ApiError({ code: 0, reason: 'Unreachable', message: 'no connection' }),
    new ApiError({ code: 403, reason: 'Forbidden', message: 'User "x" cannot create resource "configmaps"' }),
    new Error('a defect'),
  ]) {
    it(`rejects with an error that is not about the webhook: ${error.message}`, async () => {
      answers = [fails(error)];
      await assert.rejects(run(), error);
      assert.equal(steps.at(-1), 'delete');
    });
  }

  it('reports that the probe webhook is invalid', async () => {
    applied = fails(new ApiError({ code: 422, reason: 'Invalid', message: 'clientConfig.url: Invalid value' }));
    assert.deepEqual(await run(), { reached: false, reason: 'Invalid', message: 'clientConfig.url: Invalid value' });
  });

  it('rejects when the probe webhook cannot be written', async () => {
    const error = new ApiError({ code: 500, reason: 'InternalError', message: 'etcd' });
    applied = fails(error);
    await assert.rejects(run(), error);
  });

  it('leaves the probe webhook to the next leader after losing leadership', async () => {
    answers = [unchanged];
    const result = run();
    await settle();
    stop.abort(new Error('not the leader'));
    await assert.rejects(result, /not the leader/);
    assert.deepEqual(steps, ['create', 'ask']);
  });
});

const post = 'Post "https://sidecar-injector-blue.injection.svc:443/revisions/blue/0123abcd/inject?timeout=5s": ';

describe('unreachable', () => {
  const table: [error: string, advice: RegExp][] = [
    [`${post}tls: failed to verify certificate: x509: certificate signed by unknown authority`, /CertificateReady/],
    [`${post}dial tcp 10.0.0.7:443: connect: connection refused`, /--webhook-port/],
    [`${post}context deadline exceeded`, /NetworkPolicies/],
    [`${post}dial tcp 10.0.0.7:443: i/o timeout`, /NetworkPolicies/],
    [`${post}dial tcp: lookup injector.example.com: no such host`, /correct the Service or the url/],
    [`${post}dial tcp 10.0.0.7:443: connect: no route to host`, /connect the networks/],
    ['service "sidecar-injector-blue" not found', /selector/],
    [`${post}no endpoints available for service "sidecar-injector-blue"`, /selector/],
    ['the server could not find the requested resource', /selector/],
    ['the server is currently unable to handle the request', /check their logs/],
  ];
  for (const [error, advice] of table) {
    it(`keeps the API server's error and adds advice: ${error.slice(-50)}`, () => {
      const message = failedCallMessage(prefix + error);
      assert.ok(message.startsWith('the API server does not reach the webhook, so it is not installed: '));
      assert.ok(message.includes(error.replace('?timeout=5s', '')));
      const [, last = ''] = /.*; (.*)$/.exec(message) ?? [];
      assert.match(last, advice);
    });
  }

  it('gives no advice for an unknown error', () => {
    assert.equal(
      failedCallMessage(`${prefix}expected response.uid="a", got "b"`),
      'the API server does not reach the webhook, so it is not installed: expected response.uid="a", got "b"',
    );
  });

  it('gives the same message for the same failure from different ports', () => {
    const reset = (port: number): string =>
      failedCallMessage(`${prefix}${post}read tcp 10.0.0.1:${port}->10.0.0.7:443: read: connection reset by peer`);
    assert.equal(reset(40001), reset(40002));
  });

  it('keeps an error without the usual prefix unchanged', () => {
    assert.match(failedCallMessage('something else'), /so it is not installed: something else$/);
  });
});
