import assert from 'node:assert/strict';
import { reviewOf, bytesOf } from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';
import type { FromLane, ToLane } from './lane-messages.ts';
import { LaneWorker } from './lane-worker.ts';

const target = { name: 'default', hash: '0a1b2c3d', path: '/inject', annotate: true };
const review = (request: Record<string, unknown> = {}, injector = 1): ToLane => ({
  kind: 'review',
  body: new Uint8Array(bytesOf(reviewOf(request))),
  maxDepth: 50,
  injector,
  target,
});
const learn: ToLane = { kind: 'learn', injector: 1, files: someInjector.files };

function worker(...first: ToLane[]) {
  const posted: FromLane[] = [];
  const made = new LaneWorker((message) => posted.push(structuredClone(message)));
  const say = (...messages: ToLane[]): FromLane[] => {
    for (const message of messages) made.receive(message);
    return posted.splice(0);
  };
  say(...first);
  return say;
}

describe('LaneWorker', () => {
  it('asks for the surroundings of a review, then decides it', () => {
    const say = worker(learn);
    const [decoded] = say(review());
    assert.equal(decoded?.kind, 'decoded');
    assert.equal(decoded.version, 'admission.k8s.io/v1');
    const { uid, namespace, name, object } = decoded.request;
    assert.deepEqual(
      { uid, namespace, name, object },
      { uid: 'uid-1', namespace: 'shop', name: 'web-6d4f-', object: null },
    );
    const [decided] = say({ kind: 'surroundings', surroundings: {} });
    assert.equal(decided?.kind, 'decided');
    assert.equal(decided.decision.outcome, 'injected');
    assert.deepEqual(decided.decision.patch, []);
    assert.match(decided.encoded, /^"allowed":true,"patch":"[\w+/=]+","patchType":"JSONPatch"/);
  });

  it('says what is malformed', () => {
    const [answer] = worker(learn)(review({ operation: 'MAKE' }));
    assert.equal(answer?.kind, 'malformed');
    assert.match(answer.review.problem, /^request\.operation must be one of/);
    assert.equal('uid' in answer.review && answer.review.uid, 'uid-1');
  });

  it('keeps the lists of the last time when they are not sent again', () => {
    const config = [
      'policy: enabled',
      'templates:',
      '  sidecar: |',
      '    metadata: {annotations: {native: "{{ .NativeSidecars }}"}}',
    ];
    const settings = JSON.stringify({ nativeSidecars: 'Auto' });
    const say = worker({
      kind: 'learn',
      injector: 1,
      files: { ...someInjector.files, config: config.join('\n'), settings },
    });
    const native = (surroundings: Extract<ToLane, { kind: 'surroundings' }>['surroundings']): string => {
      const [, decided] = say(review(), { kind: 'surroundings', surroundings });
      assert.equal(decided?.kind, 'decided');
      const patch = /"patch":"([^"]*)"/.exec(decided.encoded)?.[1] ?? '';
      return /"native":"(\w+)"/.exec(Buffer.from(patch, 'base64').toString())?.[1] ?? '';
    };
    assert.equal(native({}), 'false');
    assert.equal(native({ nodes: [{ name: 'n', kubeletVersion: 'v1.33.0' }] }), 'true');
    assert.equal(native({}), 'true');
    assert.equal(native({ nodes: undefined }), 'false');
  });

  const defects: [name: string, messages: ToLane[], error: RegExp][] = [
    ['a review for an injector that it was never told', [review()], /does not know injector 1/],
    [
      'a review for one that it was told to forget',
      [learn, { kind: 'forget', injector: 1 }, review()],
      /does not know injector 1/,
    ],
    ['surroundings of nothing', [{ kind: 'surroundings', surroundings: {} }], /surroundings of no review/],
  ];
  for (const [name, messages, error] of defects) {
    it(`survives ${name}`, () => {
      const [defect] = worker()(...messages);
      assert.equal(defect?.kind, 'defect');
      assert.match(defect.error, error);
    });
  }
});
