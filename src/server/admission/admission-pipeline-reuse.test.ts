import assert from 'node:assert/strict';
import type { FailureReason } from '../../inject/injection-result.ts';
import { pipelineOf } from '../testdata/pipeline.ts';
import {
  type AnsweredReview,
  answeredReview,
  bytesOf,
  injectPath,
  reviewOf,
  somePod,
  uidOf,
} from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';
import type { Surroundings } from './inject-handler.ts';
import { revisionRoute } from './pod-routes.ts';

/** A pipeline with surroundings that tests can change, and an engine that counts calls. */
function webhook() {
  const state = {
    injector: someInjector,
    surroundings: { nodes: [{ name: 'n', kubeletVersion: 'v1.36.0' }], proxyConfigs: [] } as Surroundings,
    failure: undefined as FailureReason | undefined,
    calls: 0,
  };
  const route = revisionRoute(
    { get: () => state.injector },
    {
      surroundings: () => state.surroundings,
      inject: (_, { pod }) => {
        state.calls++;
        if (state.failure !== undefined) return { outcome: 'failed', reason: state.failure, message: `${state.calls}` };
        return { outcome: 'injected', pod, patch: [{ op: 'add', path: '/calls', value: state.calls }], warnings: [] };
      },
    },
  );
  const { answer, registry } = pipelineOf([route]);
  let uids = 0;
  /** Sends a review with a new uid, in the API server's format. */
  async function send(request: object = {}, path = injectPath, envelope = {}): Promise<AnsweredReview> {
    const uid = uidOf(++uids);
    const review = await sendBytes(bytesOf(reviewOf({ ...request, uid }, envelope)), path);
    assert.equal(review.response.uid, uid);
    return review;
  }
  async function sendBytes(body: Buffer, url = injectPath): Promise<AnsweredReview> {
    return answeredReview((await answer(body, { url })).body);
  }
  return { state, send, sendBytes, registry };
}

describe('a cached decision', () => {
  it('is used for the same bytes with another uid, and is counted as reused', async () => {
    const { state, send, registry } = webhook();
    const answers = [];
    for (let count = 0; count < 5; count++) answers.push((await send()).response);
    assert.equal(state.calls, 2);
    assert.deepEqual({ ...answers[4], uid: '' }, { ...answers[1], uid: '' });
    const text = await registry.metrics();
    assert.match(text, /injector_admission_decisions_reused_total 3\n/);
    assert.match(text, /sidecar_injection_success_total 5\n/);
  });

  describe('is not used after a change of', () => {
    const changes: Record<string, (changed: ReturnType<typeof webhook>) => Promise<AnsweredReview>> = {
      'the configuration (config, values, mesh, settings: another injector)': ({ state, send }) => {
        state.injector = { ...someInjector };
        return send();
      },
      'the nodes': ({ state, send }) => {
        state.surroundings = { ...state.surroundings, nodes: [{ name: 'n', kubeletVersion: 'v1.30.0' }] };
        return send();
      },
      'the ProxyConfig resources': ({ state, send }) => {
        const proxyConfigs = [{ metadata: { name: 'p', namespace: 'shop' }, spec: {} }];
        state.surroundings = { ...state.surroundings, proxyConfigs };
        return send();
      },
      'the environment in the path': ({ send }) => send({}, `${injectPath}/cluster/c1`),
      'the hash in the path': ({ send }) => send({}, '/revisions/default/11111111/inject'),
      'the name in the path': ({ send }) => send({}, '/revisions/other/0a1b2c3d/inject'),
      'the namespace': ({ send }) => send({ namespace: 'bank' }),
      'the operation': ({ send }) => send({ operation: 'UPDATE' }),
      'the field dryRun': ({ send }) => send({ dryRun: true }),
      'the version of the review': ({ send }) => send({}, injectPath, { apiVersion: 'admission.k8s.io/v1beta1' }),
      'one letter of the pod': ({ send }) =>
        send({ object: { ...somePod, metadata: { ...somePod.metadata, labels: { app: 'wed' } } } }),
    };
    for (const [what, change] of Object.entries(changes)) {
      it(what, async () => {
        const changed = webhook();
        for (let count = 0; count < 3; count++) await changed.send();
        assert.equal(changed.state.calls, 2);
        const { response } = await change(changed);
        const { calls } = changed.state;
        if (what === 'the operation') assert.deepEqual([calls, response.patch], [2, undefined]);
        else assert.equal(calls, 3);
      });
    }
  });

  it('may be a refusal, but not an internal error', async () => {
    for (const failure of ['TemplateFailed', 'Internal'] as const) {
      const { state, send } = webhook();
      state.failure = failure;
      for (let count = 0; count < 4; count++) assert.equal((await send()).response.allowed, false);
      assert.equal(state.calls, failure === 'Internal' ? 4 : 2);
    }
  });

  it('is not stored for a review with a second uid, which overrides the first', async () => {
    const { state, sendBytes } = webhook();
    const text = JSON.stringify(reviewOf({ uid: uidOf(1) }));
    // If two JSON members have the same name, the last one counts, as in Go.
    const body = Buffer.from(text.replace('"dryRun":', '"uid":"other","dryRun":'));
    for (let count = 0; count < 4; count++) assert.equal((await sendBytes(body)).response.uid, 'other');
    assert.equal(state.calls, 4);
  });
});
