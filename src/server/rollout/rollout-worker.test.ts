import assert from 'node:assert/strict';
import { everyWorkload, noWorkload } from '../../routing/workload-key.ts';
import type { HeavyVerdict } from '../admission/admission-handler.ts';
import { ReviewWorker } from '../worker/review-worker.ts';
import { workerProgram, type WorkerProgram } from '../worker/worker-program.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { bytesOf, podCreation, reviewOf, uidOf } from '../testdata/reviews.ts';
import { rolloutPath, rolloutSource } from '../testdata/rollout-injectors.ts';
import { encodeDecision } from '../admission/encode-admission-review.ts';
import { rolloutRoute } from './rollout-route.ts';

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
    const verdict = await resolve(path).worker.decide({ body, maxDepth: 50, keepsBody: true, timeout: 120_000 });
    assert.ok('decision' in verdict);
    return verdict;
  }

  it('gets from the other thread, to the byte, what this one would have said', async () => {
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
      assert.equal(dependencies?.[0], rolloutSource.get('old', '11111111'));
      assert.ok(dependencies?.[1] !== undefined && dependencies[1] !== dependencies[0]);
    }
  });

  for (const [threshold, track, name] of [
    [noWorkload, 'stable', 'old'],
    [everyWorkload, 'canary', 'new'],
  ] as const) {
    it(`that takes too long is refused in the name of who decided: ${track}`, async () => {
      // Decodes, and does not come back from rendering.
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
      assert.match(encoded, new RegExp(`the templates of ${name} cheaper.*"track":"${track}"`));
    });
  }
});
