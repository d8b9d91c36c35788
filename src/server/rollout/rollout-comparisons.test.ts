import assert from 'node:assert/strict';
import type { PairReport, RolloutPair } from '../../rollout/shadow-report.ts';
import { everyWorkload, noWorkload } from '../../routing/workload-key.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { answeredReview, bytesOf, patchOf, reviewOf, somePod, uidOf } from '../testdata/reviews.ts';
import { canaryInjector, rolloutPath, rolloutSource, stableInjector } from '../testdata/rollout-injectors.ts';
import { startTestServer } from '../testdata/test-server.ts';
import { until } from '../testdata/until.ts';
import { ReviewWorker, type WorkerBounds } from '../worker/review-worker.ts';
import { workerProgram, type WorkerProgram } from '../worker/worker-program.ts';
import { comparisonBounds, RolloutComparisons } from './rollout-comparisons.ts';
import { rolloutRoute } from './rollout-route.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** A thread that answers a comparison according to the name of the pod's first container. */
const scripted: WorkerProgram = {
  isText: true,
  source: `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (message) => {
    const { name } = JSON.parse(Buffer.from(message.body).toString()).request.object.spec.containers[0];
    if (name.startsWith('loop')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    if (name.startsWith('exit')) process.exit(3);
    if (name.startsWith('defect')) parentPort.postMessage({ kind: 'defect', error: 'broken' });
    if (name.startsWith('nothing')) parentPort.postMessage({ kind: 'compared', comparison: undefined });
    const failure = { outcome: 'failed', error: 'refused' };
    if (name.startsWith('deny')) parentPort.postMessage({ kind: 'compared', comparison: failure });
    if (name.startsWith('same')) parentPort.postMessage({ kind: 'compared', comparison: { outcome: 'same' } });
  });
`,
};
const pair: RolloutPair = {
  tag: 'prod',
  stable: { injectorConfig: 'old', hash: '11111111' },
  canary: { injectorConfig: 'new', hash: '22222222' },
};
const shared = { path: '/inject', annotate: true };
const targets: RolloutTargets = {
  stable: { name: 'old', hash: pair.stable.hash, injector: stableInjector, ...shared },
  canary: { name: 'new', hash: pair.canary.hash, injector: canaryInjector, ...shared },
};

function podNamed(name: string): Record<string, unknown> {
  return { ...somePod, spec: { containers: [{ name, image: 'x' }] } };
}

describe('RolloutComparisons', function () {
  // The thread has a low priority and starts late on a busy machine.
  this.timeout(60_000);
  let worker: ReviewWorker;
  let comparisons: RolloutComparisons;
  let outcomes: string[];
  let outcomeTimes: number[];
  let uids = 0;

  function start(program: WorkerProgram, bounds: Partial<WorkerBounds> = {}): void {
    const clock = (): number => performance.now();
    outcomes = [];
    outcomeTimes = [];
    worker = new ReviewWorker({
      log: new RecordingLog(),
      clock,
      program,
      bounds: { ...comparisonBounds, rest: 0, ...bounds },
    });
    comparisons = new RolloutComparisons({
      worker,
      surroundings: () => ({}),
      observer: {
        compared: (canary, outcome) => {
          outcomeTimes.push(clock());
          outcomes.push(`${canary} ${outcome}`);
        },
      },
    });
  }
  afterEach(() => worker.close());

  const offer = (name: string, namespace = 'shop'): void => {
    const body = bytesOf(reviewOf({ uid: uidOf(++uids), namespace, object: podNamed(name) }));
    comparisons.offer(pair, targets, rolloutPath(noWorkload, 'shadow'), namespace, body);
  };
  const report = (): PairReport | undefined => comparisons.reports()[0];

  it('renders with both configurations on the thread, and reports the fields that differ', async () => {
    start(workerProgram);
    offer('a');
    offer('b');
    await until(() => report()?.compared === 2);
    assert.deepEqual(comparisons.reports(), [
      { ...pair, compared: 2, failed: 0, differing: 2, changed: ['spec.containers[hello].image'] },
    ]);
    assert.deepEqual(outcomes, ['new changed', 'new changed']);
  });

  it('renders pods with the same bytes once, and counts every pod', async () => {
    start(scripted);
    for (let count = 0; count < 5; count++) offer('same');
    await until(() => report()?.compared === 5);
    await worker.close();
    offer('same');
    assert.equal(report()?.compared, 6);
  });

  it('distinguishes reviews with the same CRC32 and length', async () => {
    start(scripted);
    offer('same-f96d78feab');
    await until(() => report()?.compared === 1);
    offer('deny-17f58aa49c');
    await until(() => report()?.compared === 2);
    assert.equal(report()?.failed, 1);
  });

  it('accepts pods of other namespaces when one namespace fills the queue', async () => {
    start(scripted, { maxWaiting: 4, deadline: 60_000 });
    offer('exit');
    for (let count = 0; count < 100; count++) offer(`same-${count}`, 'flood');
    offer('deny-1', 'bank');
    offer('same-own', 'bank');
    // Now both namespaces have the same number of waiting reviews.
    offer('same-more', 'bank');
    assert.equal(outcomes.length, 96 + 2 + 1);
    await until(() => report()?.compared === 4);
    assert.equal(report()?.failed, 1);
  });

  it('drops and counts reviews while the queue is full, and accepts them later', async () => {
    start(scripted, { maxWaiting: 2, deadline: 60_000 });
    // The first review occupies the thread.
    offer('exit');
    offer('same-1');
    offer('same-2');
    for (let count = 0; count < 100; count++) offer(`same-more-${count}`);
    offer('large'.padEnd(128 * 1024, 'x'));
    assert.deepEqual(outcomes, Array(101).fill('new dropped'));
    await until(() => report()?.compared === 2);
    assert.equal(report()?.failed, 0);
    offer('same-more-5');
    await until(() => report()?.compared === 3);
  });

  it('counts a timeout as a failure of the canary, and continues', async () => {
    start(scripted, { deadline: 3000 });
    offer('loop');
    offer('same');
    await until(() => report()?.compared === 2);
    const { failed, error } = report() ?? {};
    assert.deepEqual([failed, error], [1, 'rendering a pod with new takes more than 3000 ms']);
  });

  for (const [what, name, dropped] of [
    ['if the thread exits', 'exit', ['new dropped', 'new dropped']],
    ['if the thread fails', 'defect', ['new dropped', 'new dropped']],
    ['if there is no pod to compare', 'nothing', []],
  ] as const) {
    it(`reports no result for the canary ${what}`, async () => {
      start(scripted);
      offer(name);
      offer(name);
      await until(() => outcomes.length === dropped.length);
      assert.deepEqual(outcomes, dropped);
      offer('same');
      await until(() => report()?.compared === 1);
      assert.deepEqual([report()?.failed, outcomes], [0, [...dropped, 'new same']]);
    });
  }

  it('does not start a thread after close', async () => {
    start(scripted);
    offer('loop');
    offer('same');
    await worker.close();
    offer('same-2');
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([worker.isAwake, report()?.compared], [false, 0]);
    assert.deepEqual(outcomes, Array(3).fill('new dropped'));
  });

  it('rests after each comparison', async () => {
    start(scripted, { rest: 1e9, maxRest: 400 });
    offer('same-1');
    offer('same-2');
    await until(() => report()?.compared === 2);
    const [first = 0, second = 0] = outcomeTimes;
    // Timers can fire slightly early.
    assert.ok(second - first > 390);
  });

  it('keeps only the most recently used pairs, for any number of tags', () => {
    start(scripted);
    const tooLarge = Buffer.alloc(128 * 1024 + 1);
    for (let index = 0; index < 100; index++) {
      comparisons.offer({ ...pair, tag: `t${index}` }, targets, '/', 'shop', tooLarge);
    }
    const tags = comparisons.reports().map(({ tag }) => tag);
    assert.deepEqual([tags.length, tags[0], tags[31]], [32, 't99', 't68']);
  });
});

describe('a rollout in a running server', function () {
  this.timeout(60_000);
  type Server = Awaited<ReturnType<typeof startTestServer>>;
  let worker: ReviewWorker;
  let comparisons: RolloutComparisons;
  let server: Server;
  beforeEach(async () => {
    const clock = (): number => performance.now();
    worker = new ReviewWorker({ log: new RecordingLog(), clock });
    comparisons = new RolloutComparisons({ worker, surroundings: () => ({}) });
    server = await startTestServer({ routes: [rolloutRoute(rolloutSource, { comparisons })] });
  });
  afterEach(async () => {
    await server.stop();
    await worker.close();
  });

  it('answers in shadow with the bytes of the stable configuration, and finds a broken canary', async () => {
    const shadow = rolloutPath('8000000000000000', 'shadow', 'broken/33333333');
    const pods = [somePod, podNamed('a'), { ...somePod, metadata: { name: 'no-owner' } }];
    for (const object of pods) {
      const body = bytesOf(reviewOf({ object, uid: uidOf(1) }));
      const plain = await server.post(body, { path: rolloutPath(noWorkload, 'inject', 'broken/33333333') });
      assert.equal(plain.status, 200);
      assert.match(JSON.stringify(patchOf(answeredReview(plain.body))), /hello:1.*old\.11111111/);
      for (let count = 0; count < 4; count++) {
        const answer = await server.post(body, { path: shadow });
        assert.equal(answer.body, plain.body);
        assert.deepEqual({ ...answer.headers, date: '' }, { ...plain.headers, date: '' });
      }
    }
    await until(() => comparisons.reports()[0]?.compared === 12);
    const [report, ...others] = comparisons.reports();
    assert.deepEqual([report?.failed, report?.differing, report?.changed, others.length], [12, 0, [], 0]);
    assert.match(report?.error ?? '', /^TemplateFailed: .*no such mesh/s);
  });

  it('compares outside of shadow only pods that the canary refused', async () => {
    const path = (canary: 'new/22222222' | 'broken/33333333'): string => rolloutPath(everyWorkload, 'inject', canary);
    const accepted = await server.post(bytesOf(reviewOf()), { path: path('new/22222222') });
    assert.match(JSON.stringify(patchOf(answeredReview(accepted.body))), /hello:2.*new\.22222222/);
    const refused = await server.post(bytesOf(reviewOf()), { path: path('broken/33333333') });
    assert.equal(answeredReview(refused.body).response.allowed, false);
    // Both configurations refuse this pod, because its author made a mistake.
    const metadata = { annotations: { 'sidecar.istio.io/inject': 'maybe', 'prometheus.io/port': '/' } };
    const object = { ...somePod, metadata, spec: 'none' };
    await server.post(bytesOf(reviewOf({ object })), { path: path('broken/33333333') });
    await until(() => comparisons.reports()[0]?.compared === 2);
    const [report, ...others] = comparisons.reports();
    assert.deepEqual([report?.failed, report?.canary.injectorConfig, others.length], [1, 'broken', 0]);
  });

  it('counts admissions by track', async () => {
    await server.post(bytesOf(reviewOf()), { path: rolloutPath(everyWorkload) });
    for (let count = 0; count < 5; count++) await server.post(bytesOf(reviewOf()), { path: rolloutPath(noWorkload) });
    const text = await server.registry.metrics();
    assert.match(text, /rollout_admissions_total\{injector="new",track="canary",outcome="injected"\} 1\n/);
    assert.match(text, /rollout_admissions_total\{injector="old",track="stable",outcome="injected"\} 5\n/);
  });
});
