import assert from 'node:assert/strict';
import type { Injector } from '../../inject/injector.ts';
import { everyWorkload, noWorkload, rankOf } from '../../routing/workload-key.ts';
import { pipelineOf } from '../testdata/pipeline.ts';
import { answeredReview, bytesOf, reviewOf, somePod, uidOf, podCreation } from '../testdata/reviews.ts';
import { canaryInjector, rolloutPath, stableInjector, rolloutSource } from '../testdata/rollout-injectors.ts';
import type { RolloutComparisons } from './rollout-comparisons.ts';
import { rolloutRoute } from './rollout-route.ts';
import type { HeavyVerdict } from '../admission/admission-handler.ts';
import { ReviewWorker } from '../worker/review-worker.ts';
import { workerProgram, type WorkerProgram } from '../worker/worker-program.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { encodeDecision } from '../admission/encode-admission-review.ts';

/** A pipeline with two replaceable injectors, and an engine that counts calls. */
function webhook(offer: RolloutComparisons['offer'] = () => undefined) {
  const injectors: Record<string, Injector> = { old: stableInjector, new: canaryInjector };
  const state = { injectors, calls: 0 };
  const route = rolloutRoute(
    { get: (key) => state.injectors[key.slice(0, 3)] },
    {
      comparisons: { offer },
      inject: (_, { pod }) => {
        state.calls++;
        return { outcome: 'injected', pod, patch: [], warnings: [] };
      },
    },
  );
  const { answer, log, registry } = pipelineOf([route]);
  let uids = 0;
  /** @returns the track in the answer */
  async function send(url: string, object: unknown = somePod, dryRun = false): Promise<string | undefined> {
    const uid = uidOf(++uids);
    const { body } = await answer(bytesOf(reviewOf({ uid, object, dryRun })), { url });
    const { response } = answeredReview(body);
    assert.equal(response.uid, uid);
    return response.auditAnnotations?.track;
  }
  return { state, send, log, registry };
}

const rank = rankOf('prod', { namespace: 'shop', kind: 'Pod', name: somePod.metadata.generateName });

describe('a cached decision of a rollout', () => {
  for (const [threshold, track] of [
    [rank, 'stable'],
    [everyWorkload, 'canary'],
  ] as const) {
    it(`is reused for the ${track} track`, async () => {
      const { state, send, registry } = webhook();
      for (let count = 0; count < 5; count++) assert.equal(await send(rolloutPath(threshold)), track);
      assert.equal(state.calls, 2);
      assert.match(await registry.metrics(), new RegExp(`rollout_admissions_total{[^}]*track="${track}"[^}]*} 5\n`));
    });

    for (const name of ['old', 'new']) {
      it(`for the ${track} track is not reused after a change of the ${name} injector`, async () => {
        const { state, send } = webhook();
        for (let count = 0; count < 3; count++) await send(rolloutPath(threshold));
        assert.equal(state.calls, 2);
        const injector = state.injectors[name];
        assert.ok(injector !== undefined);
        state.injectors[name] = { ...injector };
        assert.equal(await send(rolloutPath(threshold)), track);
        assert.equal(state.calls, 3);
      });
    }
  }

  it("changes when the threshold exceeds the workload's rank, and changes back with the threshold", async () => {
    const { send } = webhook();
    const above = (BigInt(`0x${rank}`) + 1n).toString(16).padStart(16, '0');
    for (let round = 0; round < 3; round++) {
      for (let count = 0; count < 3; count++) {
        assert.equal(await send(rolloutPath(rank)), 'stable');
        assert.equal(await send(rolloutPath(above)), 'canary');
        assert.equal(await send(rolloutPath(above, 'shadow')), 'stable');
      }
    }
  });

  it('is not reused for another workload with equal pods', async () => {
    const { send } = webhook();
    const threshold = '8000000000000000';
    const tracks = new Map<string, Set<string | undefined>>();
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < 40; index++) {
        const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: `db-${index}`, controller: true }];
        const track = await send(rolloutPath(threshold), { ...somePod, metadata: { ownerReferences } });
        const expected = rankOf('prod', { namespace: 'shop', kind: 'StatefulSet', name: `db-${index}` }) < threshold;
        assert.equal(track, expected ? 'canary' : 'stable');
        tracks.set(`${index}`, (tracks.get(`${index}`) ?? new Set()).add(track));
      }
    }
    assert.ok([...tracks.values()].every(({ size }) => size === 1));
  });

  it('is offered for comparison after the answer', async () => {
    const offered: string[] = [];
    const { state, send } = webhook((pair, targets, path, namespace, body) => {
      assert.equal(path, rolloutPath(noWorkload, 'shadow'));
      offered.push(`${pair.canary.injectorConfig} ${targets.canary.name} ${namespace} ${body.length > 0}`);
    });
    const pending: Promise<unknown>[] = [];
    for (let count = 0; count < 4; count++) {
      pending.push(send(rolloutPath(noWorkload, 'shadow')));
      assert.deepEqual(offered, []);
    }
    await Promise.all(pending);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(state.calls, 2);
    assert.deepEqual(offered, Array(4).fill('new new shop true'));
  });

  it('is not offered for comparison in a dry run', async () => {
    let offered = 0;
    const { send } = webhook(() => offered++);
    for (const dryRun of [true, false, true, true]) await send(rolloutPath(noWorkload, 'shadow'), somePod, dryRun);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(offered, 1);
  });

  it('is returned even if the comparison throws', async () => {
    const { send, log } = webhook(() => {
      throw new Error('broken');
    });
    assert.equal(await send(rolloutPath(noWorkload, 'shadow')), 'stable');
    await new Promise((resolve) => setImmediate(resolve));
    const lines = log.lines.map(({ level, message }) => `${level} ${message}`);
    assert.deepEqual(lines, ['debug admission', 'error admission failed unexpectedly']);
  });
});

describe('a heavy review in a rollout', function () {
  this.timeout(60_000);
  let worker: ReviewWorker;
  function start(program: WorkerProgram, deadline = 60_000): void {
    const clock = (): number => performance.now();
    worker = new ReviewWorker({ log: new RecordingLog(), clock, program, bounds: { deadline } });
  }
  afterEach(() => worker.close());

  function resolve(path: string) {
    const target = rolloutRoute(rolloutSource, { worker }).resolve(path);
    assert.ok(target !== undefined && 'handler' in target && target.worker !== undefined);
    return { ...target, worker: target.worker };
  }
  async function decide(path: string): Promise<Extract<HeavyVerdict, { decision: unknown }>> {
    const body = bytesOf(reviewOf({ uid: uidOf(1) }));
    const verdict = await resolve(path).worker({ body, maxDepth: 50, keepsBody: true, timeout: 120_000 });
    assert.ok('decision' in verdict);
    return verdict;
  }

  it('gets the same bytes from the worker as from the main thread', async () => {
    start(workerProgram);
    for (const [path, track] of [
      [rolloutPath(noWorkload), 'stable'],
      [rolloutPath(everyWorkload), 'canary'],
      [rolloutPath(everyWorkload, 'shadow'), 'stable'],
      [rolloutPath(everyWorkload, 'inject', 'broken/33333333'), 'canary'],
    ] as const) {
      const { encoded, decision, dependencies } = await decide(path);
      const here = await resolve(path).handler(podCreation());
      assert.equal(encoded, encodeDecision(here));
      assert.deepEqual([decision.track, decision.injector], [track, here.injector]);
      assert.equal(dependencies?.[0], rolloutSource.get('old.11111111'));
      assert.ok(dependencies?.[1] !== undefined && dependencies[1] !== dependencies[0]);
    }
  });

  for (const [threshold, track, name] of [
    [noWorkload, 'stable', 'old'],
    [everyWorkload, 'canary', 'new'],
  ] as const) {
    it(`that times out gets a refusal that names the ${track} injector`, async () => {
      // Decodes the review, then blocks.
      const source = `
        const { parentPort } = require('node:worker_threads');
        parentPort.on('message', ({ body, rollout }) => {
          const { request } = JSON.parse(Buffer.from(body).toString());
          const track = rollout.choice.threshold === '${noWorkload}' ? 'stable' : 'canary';
          parentPort.postMessage({ kind: 'decoded', version: 'admission.k8s.io/v1', request, track });
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        });`;
      start({ isText: true, source }, 5000);
      const { decision, encoded } = await decide(rolloutPath(threshold));
      assert.deepEqual([decision.reason, decision.track, decision.injector?.name], ['TooSlow', track, name]);
      assert.match(encoded, new RegExp(`the templates of ${name}".*"track":"${track}"`));
    });
  }
});
