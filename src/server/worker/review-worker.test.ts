import assert from 'node:assert/strict';
import { RecordingLog } from '../testdata/recording-log.ts';
import { bytesOf, reviewOf, uidOf } from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { until } from '../testdata/until.ts';
import type { HeavyVerdict } from '../admission/admission-handler.ts';
import { decideOnWorker } from './decide-on-worker.ts';
import { ReviewWorker, type WorkerBounds } from './review-worker.ts';

/** A thread that follows a script in the body, or posts the body as the outcome. */
const scripted = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (message) => {
    const script = Buffer.from(message.body).toString().trim();
    if (script === 'loop') for (;;);
    if (script === 'exit') process.exit(3);
    if (script === 'throw') throw new Error('broken');
    if (script === 'grow') { const all = []; for (;;) all.push(new Array(1000).fill({ a: 1 })); }
    if (script === 'nothing') return;
    parentPort.postMessage(JSON.parse(script));
  });
`;
const decided = JSON.stringify({
  kind: 'decided',
  decision: { outcome: 'allowed', reason: 'Scripted', allowed: true },
  encoded: '"allowed":true',
});

describe('ReviewWorker', () => {
  let worker: ReviewWorker;
  let log: RecordingLog;
  let ended: string[];

  function start(bounds: Partial<WorkerBounds> = {}, source = scripted): void {
    log = new RecordingLog();
    ended = [];
    worker = new ReviewWorker({
      log,
      clock: () => performance.now(),
      observer: (outcome) => ended.push(outcome),
      bounds,
      program: { source, isText: true },
    });
  }
  afterEach(() => worker.close());
  const levels = (): string[] => log.lines.map(({ level }) => level);

  const target = { name: 'default', hash: '0a1b2c3d', injector: someInjector, path: '/inject', annotate: true };
  const context = { target, surroundings: () => ({}), dependencies: () => [someInjector] };
  function decide(text: Buffer | string, timeout?: number, keepsBody = true): Promise<HeavyVerdict> {
    const body = typeof text === 'string' ? Buffer.from(text) : text;
    return decideOnWorker(worker, context, { body, maxDepth: 50, keepsBody, timeout });
  }
  function reasonOf(verdict: HeavyVerdict): string {
    if ('unavailable' in verdict) return 'unavailable';
    return 'problem' in verdict ? 'malformed' : verdict.decision.reason;
  }

  it('transfers a body that the caller no longer needs, and copies other bodies', async () => {
    start();
    const body = Buffer.from(new Uint8Array(new TextEncoder().encode(decided)).buffer);
    await decide(body);
    assert.equal(body.length, decided.length);
    await decide(body, undefined, false);
    assert.equal(body.length, 0);
  });

  it('ends the thread on timeout, refuses its review, and continues with a new thread', async () => {
    start({ deadline: 1000 });
    const [slow, next] = await Promise.all([decide('loop'), decide(decided)]);
    assert.equal(reasonOf(slow), 'TooSlow');
    assert.ok('encoded' in slow);
    const advice =
      /"code":500.*takes longer than the limit of 1000 ms; make the pod smaller, or simplify the templates of default/;
    assert.match(slow.encoded, advice);
    assert.equal('dependencies' in slow, false);
    assert.equal(reasonOf(next), 'Scripted');
    assert.deepEqual(ended, ['deadline', 'done']);
    assert.deepEqual(levels(), ['warn']);
  });

  it("limits a review to its webhook's timeout", async () => {
    start({ deadline: 60_000 });
    assert.equal(reasonOf(await decide('loop', 1000)), 'TooSlow');
  });

  it('reads the version and uid from the first bytes if the thread did not report them', async () => {
    const uid = uidOf(1);
    const program = `const { parentPort } = require('node:worker_threads'); parentPort.on('message', () => { for (;;); });`;
    start({ deadline: 300 }, program);
    const verdict = await decide(bytesOf(reviewOf({ uid }, { apiVersion: 'admission.k8s.io/v1beta1' })));
    assert.ok('request' in verdict);
    assert.deepEqual([verdict.version, verdict.request.uid], ['admission.k8s.io/v1beta1', uid]);
  });

  for (const [script, reason] of [
    ['throw', 'Internal'],
    ['exit', 'Internal'],
    ['grow', 'TooMuchMemory'],
    ['{"kind":"defect","error":"broken"}', 'Internal'],
  ] as const) {
    it(`refuses a review with script ${script}, logs the failure, and continues`, async () => {
      start({ heapMebibytes: 24 });
      const [broken, next] = await Promise.all([decide(script), decide(`${decided}   `)]);
      assert.equal(reasonOf(broken), reason);
      assert.equal(reasonOf(next), 'Scripted');
      assert.deepEqual(levels(), ['error']);
    });
  }

  it('refuses the largest review if the queue is full', async () => {
    // The deadline includes the start of the thread on a busy machine.
    start({ maxWaiting: 1, deadline: 1500 });
    const running = decide('loop');
    await until(() => worker.isAwake);
    const [large, small] = [decide(`${decided} `), decide(decided)];
    assert.deepEqual(await large, { unavailable: 'too many large reviews at once' });
    assert.ok(worker.waitingBytes > 0);
    assert.equal(reasonOf(await running), 'TooSlow');
    assert.equal(reasonOf(await small), 'Scripted');
    assert.deepEqual(ended, ['full', 'deadline', 'done']);
  });

  it('does not start a review that has timed out', async () => {
    start({ deadline: 400 });
    const running = decide('loop');
    assert.deepEqual(await decide(decided, 100), { unavailable: 'too many large reviews at once' });
    await running;
    assert.deepEqual(ended, ['deadline', 'late']);
  });

  it('ends an idle thread, and starts a new thread on demand', async () => {
    start({ idle: 20 });
    await decide(decided);
    assert.equal(worker.isAwake, true);
    await until(() => !worker.isAwake);
    assert.equal(reasonOf(await decide(decided)), 'Scripted');
  });

  it('refuses a review if the thread does not start', async () => {
    start();
    // The program of a thread must be a file or a text.
    const program = { source: new URL('http://localhost/'), isText: false };
    worker = new ReviewWorker({ log, clock: () => 0, program });
    assert.equal(reasonOf(await decide(decided)), 'Internal');
    assert.equal(worker.isAwake, false);
    assert.match(String(log.lines[0]?.fields['problem']), /URL|scheme|file/);
  });

  it('fails running and waiting reviews when it is closed', async () => {
    start();
    const all = Promise.all([decide('nothing'), decide(decided)]);
    await worker.close();
    assert.deepEqual((await all).map(reasonOf), ['Internal', 'Internal']);
    assert.equal(worker.isAwake, false);
    await worker.close();
  });
});
