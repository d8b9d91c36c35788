import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import type { NamespaceMetadata, NodeFacts, ProxyConfigResource } from '../../inject/injection-request.ts';
import type { FailureReason } from '../../inject/injection-result.ts';
import { createAdmissionObserver } from '../metrics/admission-observer.ts';
import { createAdmissionPipeline } from './admission-pipeline.ts';
import { DecisionMemory } from './decision-memory.ts';
import { revisionRoute } from './pod-routes.ts';
import { ServerMetrics } from '../metrics/server-metrics.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { type AnsweredReview, answeredReview, bytesOf, reviewOf, somePod } from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';

const firstPath = '/revisions/default/0a1b2c3d/inject';

/** A webhook whose surroundings a test changes, and an engine whose patch counts how often it was asked. */
function webhook() {
  const state = {
    injector: someInjector,
    nodes: [{ name: 'n', kubeletVersion: 'v1.36.0' }] as readonly NodeFacts[],
    metadata: { labels: {} } as NamespaceMetadata | undefined,
    proxyConfigs: [] as readonly ProxyConfigResource[],
    failure: undefined as FailureReason | undefined,
    asked: 0,
  };
  const surroundings = {
    nodes: () => state.nodes,
    namespaceMetadata: () => state.metadata,
    proxyConfigs: () => state.proxyConfigs,
  };
  const route = revisionRoute(
    { get: () => state.injector },
    {
      surroundings,
      inject: (_, { pod }) => {
        state.asked++;
        if (state.failure !== undefined) return { outcome: 'failed', reason: state.failure, message: `${state.asked}` };
        return { outcome: 'injected', pod, patch: [{ op: 'add', path: '/asked', value: state.asked }], warnings: [] };
      },
    },
  );
  const registry = new Registry();
  const admit = createAdmissionPipeline({
    routes: [route],
    jsonBounds: { maxDepth: 100, maxValues: 5000 },
    memory: new DecisionMemory({ maxBytes: 1_000_000, maxReviewBytes: 100_000 }),
    observer: createAdmissionObserver(new RecordingLog(), new ServerMetrics(registry), () => 0),
  });
  let uids = 0;
  /** Sends a review with a uid of its own, written as the API server writes it. */
  async function send(
    request: Record<string, unknown> = {},
    path = firstPath,
    envelope: Record<string, unknown> = {},
  ): Promise<AnsweredReview> {
    const uid = `705ab4f5-6393-11e8-b7cc-${String(++uids).padStart(12, '0')}`;
    const answer = await sendBytes(bytesOf(reviewOf({ ...request, uid }, envelope)), path);
    assert.equal(answer.response.uid, uid);
    return answer;
  }
  async function sendBytes(body: Buffer, path = firstPath): Promise<AnsweredReview> {
    const admitted = admit({ method: 'POST', url: path, contentType: 'application/json', contentLength: body.length });
    assert.ok('respond' in admitted);
    return answeredReview((await admitted.respond(body)).body);
  }
  return { state, send, sendBytes, registry };
}

describe('a decision that was made before', () => {
  it('is given again for the same bytes with another uid, and counted like any other', async () => {
    const { state, send, registry } = webhook();
    const answers = [];
    for (let count = 0; count < 5; count++) answers.push((await send()).response);
    assert.equal(state.asked, 2);
    assert.deepEqual({ ...answers[4], uid: '' }, { ...answers[1], uid: '' });
    const text = await registry.metrics();
    assert.match(text, /injector_admission_decisions_reused_total 3\n/);
    assert.match(text, /sidecar_injection_success_total 5\n/);
  });

  describe('is not given again after a change of', () => {
    const changes: Record<string, (changed: ReturnType<typeof webhook>) => Promise<AnsweredReview>> = {
      'the configuration (config, values, mesh, settings: another injector)': ({ state, send }) => {
        state.injector = { ...someInjector };
        return send();
      },
      'the nodes': ({ state, send }) => {
        state.nodes = [{ name: 'n', kubeletVersion: 'v1.30.0' }];
        return send();
      },
      "the namespace's metadata": ({ state, send }) => {
        state.metadata = { labels: { a: 'b' } };
        return send();
      },
      'what is known of the namespace': ({ state, send }) => {
        state.metadata = undefined;
        return send();
      },
      'the ProxyConfig resources': ({ state, send }) => {
        state.proxyConfigs = [{ metadata: { name: 'p', namespace: 'shop' }, spec: {} }];
        return send();
      },
      'the path environment': ({ send }) => send({}, `${firstPath}/cluster/c1`),
      'the hash in the path': ({ send }) => send({}, '/revisions/default/11111111/inject'),
      'the name in the path': ({ send }) => send({}, '/revisions/other/0a1b2c3d/inject'),
      'the namespace': ({ send }) => send({ namespace: 'bank' }),
      'the operation': ({ send }) => send({ operation: 'UPDATE' }),
      'the dry run': ({ send }) => send({ dryRun: true }),
      'the version of the review': ({ send }) => send({}, firstPath, { apiVersion: 'admission.k8s.io/v1beta1' }),
      'one letter of the pod': ({ send }) =>
        send({ object: { ...somePod, metadata: { ...somePod.metadata, labels: { app: 'wed' } } } }),
    };
    for (const [what, change] of Object.entries(changes)) {
      it(what, async () => {
        const changed = webhook();
        for (let count = 0; count < 3; count++) await changed.send();
        assert.equal(changed.state.asked, 2);
        const { response } = await change(changed);
        const { asked } = changed.state;
        if (what === 'the operation') assert.deepEqual([asked, response.patch], [2, undefined]);
        else assert.equal(asked, 3);
      });
    }
  });

  it('is given again when it was a refusal, but not when it was a defect', async () => {
    for (const [failure, asked] of [
      ['TemplateFailed', 2],
      ['Internal', 4],
    ] as const) {
      const { state, send } = webhook();
      state.failure = failure;
      for (let count = 0; count < 4; count++) assert.equal((await send()).response.allowed, false);
      assert.equal(state.asked, asked);
    }
  });

  it('is not kept for a review whose bytes begin with a uid that is not the one that counts', async () => {
    const { state, sendBytes } = webhook();
    const text = JSON.stringify(reviewOf({ uid: '705ab4f5-6393-11e8-b7cc-000000000001' }));
    // Of two members with one name the later counts, for us as for Go.
    const body = Buffer.from(text.replace('"dryRun":', '"uid":"other","dryRun":'));
    for (let count = 0; count < 4; count++) assert.equal((await sendBytes(body)).response.uid, 'other');
    assert.equal(state.asked, 4);
  });
});
