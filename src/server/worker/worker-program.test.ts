import assert from 'node:assert/strict';
import fc from 'fast-check';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { logFiles, proxyFiles } from '../../inject/testdata/configurations.ts';
import { revisionRoute } from '../admission/pod-routes.ts';
import { pipelineOf } from '../testdata/pipeline.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { bytesOf, reviewOf, somePod } from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { decideOnWorker } from './decide-on-worker.ts';
import { mainThreadLimits } from './limits.ts';
import { ReviewWorker } from './review-worker.ts';

const endless = 60_000;
/** A template that loops as often as the label `turns` says. */
const loopFiles = {
  ...logFiles,
  config: [
    'policy: enabled',
    'templates:',
    '  sidecar: |',
    '    {{- $n := atoi (index .ObjectMeta.Labels "turns" | default "0") }}',
    '    {{- range until $n }}{{ $x := . }}{{ end }}',
    '    metadata: {annotations: {turns: "{{ $n }}"}}',
  ].join('\n'),
};

describe('the program of the worker', function () {
  // Starting the thread from sources is slow on busy machines.
  this.timeout(endless);
  let worker: ReviewWorker;
  let log: RecordingLog;
  before(() => {
    log = new RecordingLog();
    const bounds = { deadline: endless, defaultTimeout: 4 * endless, idle: endless };
    worker = new ReviewWorker({ log, clock: () => performance.now(), bounds });
  });
  after(() => worker.close());

  function webhook(injector: () => Injector) {
    const state = { nodes: [{ name: 'n', kubeletVersion: 'v1.36.0' }] };
    const surroundings = () => ({ nodes: state.nodes, proxyConfigs: [] });
    const sender = (more: { worker?: ReviewWorker }) => {
      const route = revisionRoute({ get: injector }, { surroundings, ...more });
      const { answer } = pipelineOf([route], { maxValues: 500_000, maxBytes: 0, log });
      return async (body: Buffer): Promise<string> =>
        (await answer(Buffer.from(body), { url: '/revisions/n/0a1b2c3d/inject/cluster/c1' })).body;
    };
    return { state, here: sender({}), elsewhere: sender({ worker }) };
  }
  /** Padding that makes a review large enough for the worker. */
  const padding = 'x'.repeat(140_000);
  const largeReview = (request: Record<string, unknown> = {}): Buffer => bytesOf(reviewOf(request, { padding }));

  it('decides reviews one at a time on one thread', async () => {
    const target = { name: 'default', hash: '0a1b2c3d', injector: someInjector, path: '/inject', annotate: true };
    const context = { target, surroundings: () => ({}), dependencies: () => [someInjector] };
    const order: string[] = [];
    const decide = async (uid: string): Promise<void> => {
      const review = { body: bytesOf(reviewOf({ uid })), maxDepth: 50, keepsBody: true, timeout: undefined };
      const verdict = await decideOnWorker(worker, context, review);
      assert.ok('request' in verdict);
      assert.equal(verdict.request.uid, uid);
      assert.equal(verdict.dependencies?.[0], someInjector);
      order.push(uid);
    };
    await Promise.all([decide('a'), decide('b')]);
    assert.deepEqual(order, ['a', 'b']);
  });

  it('gives the same bytes as the main thread for any pod', async () => {
    const texts = fc.constantFrom('', 'a', 'true', 'app:1', '"', '{{', '\u2028', 'ü\n');
    const strings = fc.dictionary(
      fc.constantFrom('app', '__proto__', 'sidecar.istio.io/inject', 'sidecar.istio.io/status', 'prometheus.io/scrape'),
      texts,
    );
    const names = fc.constantFrom('app', 'istio-proxy', 'x');
    const container = fc.record({ name: names, image: texts, future: fc.jsonValue() });
    const containers = fc.uniqueArray(container, { selector: ({ name }) => name });
    const metadata = fc.record({ generateName: texts, labels: strings, annotations: strings });
    const spec = fc.record({ containers, hostNetwork: fc.boolean() });
    const pods = fc.oneof(fc.record({ metadata, spec }), fc.jsonValue());
    const operations = fc.constantFrom('CREATE', 'CREATE', 'CREATE', 'UPDATE', 'NONSENSE');
    const namespaces = fc.constantFrom('shop', 'kube-system', '');
    const injectors = [proxyFiles, logFiles].map((files) => loadInjector(files, { limits: mainThreadLimits }));
    await fc.assert(
      fc.asyncProperty(pods, operations, namespaces, fc.nat(1), async (object, operation, namespace, index) => {
        const { here, elsewhere } = webhook(() => injectors[index] ?? someInjector);
        const body = largeReview({ object, operation, namespace });
        assert.equal(await elsewhere(body), await here(body));
      }),
      { numRuns: 150 },
    );
  });

  it("renders a template that exceeds the main thread's limits, and refuses one that exceeds the worker's limits", async () => {
    const bounded = loadInjector(loopFiles, { limits: mainThreadLimits });
    const { elsewhere } = webhook(() => bounded);
    const { here } = webhook(() => loadInjector(loopFiles));
    const turns = (count: number): Buffer =>
      bytesOf(reviewOf({ object: { ...somePod, metadata: { labels: { turns: String(count) } } } }));
    for (const count of [10, 20_000, 600_000])
      assert.equal(await elsewhere(turns(count)), await here(turns(count)), `${count} turns`);
    assert.match(await here(turns(10)), /"allowed":true/);
    assert.match(await elsewhere(turns(20_000)), /"allowed":true/);
    assert.match(await elsewhere(turns(600_000)), /"allowed":false.*exceeded the limit of 1000000 steps/);
    const { here: boundedHere } = webhook(() => bounded);
    assert.match(await boundedHere(turns(20_000)), /exceeded the limit of 20000 steps/);
  });

  it('uses the current configuration and surroundings', async () => {
    const withImage = (image: string): Injector =>
      loadInjector({ ...someInjector.files, config: someInjector.files.config.replace('hello:1', image) });
    let current = withImage('hello:1');
    const { state, here, elsewhere } = webhook(() => current);
    const body = largeReview();
    // These injectors share one name and hash, as if hashes collided. The thread caches only four.
    for (const image of ['a:1', 'a:2', 'a:3', 'a:4', 'a:5', 'a:6']) {
      current = withImage(image);
      const patch = /"patch":"([^"]*)"/.exec(await elsewhere(body))?.[1] ?? '';
      assert.match(Buffer.from(patch, 'base64').toString(), new RegExp(`"${image}"`));
    }
    const native = { ...proxyFiles, settings: JSON.stringify({ nativeSidecars: 'Auto' }) };
    current = loadInjector(native);
    const answers = [];
    for (const kubeletVersion of ['v1.36.0', 'v1.20.0', 'v1.36.0']) {
      state.nodes = [{ name: 'n', kubeletVersion }];
      answers.push(await elsewhere(body));
      assert.equal(answers.at(-1), await here(body));
    }
    assert.equal(answers[0], answers[2]);
    assert.notEqual(answers[0], answers[1]);
  });

  it('logged no error in these tests', () => {
    assert.ok(log.lines.every(({ level }) => level !== 'error'));
  });
});
