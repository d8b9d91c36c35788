import assert from 'node:assert/strict';
import { reviewOf, bytesOf } from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';
import type { FromThread, ToThread } from './messages.ts';
import { ReviewThread } from './review-thread.ts';

const target = {
  name: 'default',
  hash: '0a1b2c3d',
  path: '/inject',
  annotate: true,
  number: 1,
  files: someInjector.files,
};
const review = (request: Record<string, unknown> = {}, files = someInjector.files, number = 1): ToThread => ({
  kind: 'review',
  body: new Uint8Array(bytesOf(reviewOf(request))),
  maxDepth: 50,
  target: { ...target, files, number },
});

function thread(): (...messages: ToThread[]) => FromThread[] {
  const made = new ReviewThread();
  return (...messages) => messages.map((message) => structuredClone(made.answer(structuredClone(message))));
}

describe('ReviewThread', () => {
  it('asks for the surroundings of a review, then decides it', () => {
    const say = thread();
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
    const [answer] = thread()(review({ operation: 'MAKE' }));
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
    const files = { ...someInjector.files, config: config.join('\n'), settings };
    const say = thread();
    const native = (surroundings: Extract<ToThread, { kind: 'surroundings' }>['surroundings']): string => {
      const [, decided] = say(review({}, files), { kind: 'surroundings', surroundings });
      assert.equal(decided?.kind, 'decided');
      const patch = /"patch":"([^"]*)"/.exec(decided.encoded)?.[1] ?? '';
      return /"native":"(\w+)"/.exec(Buffer.from(patch, 'base64').toString())?.[1] ?? '';
    };
    assert.equal(native({}), 'false');
    assert.equal(native({ nodes: [{ name: 'n', kubeletVersion: 'v1.33.0' }] }), 'true');
    assert.equal(native({}), 'true');
    assert.equal(native({ nodes: undefined }), 'false');
  });

  it('knows a configuration by its number, and keeps the last four', () => {
    const say = thread();
    const withImage = (image: string) => ({
      ...someInjector.files,
      config: someInjector.files.config.replace('hello:1', image),
    });
    const image = (number: number, files = someInjector.files): string => {
      const [, decided] = say(review({}, files, number), { kind: 'surroundings', surroundings: {} });
      assert.equal(decided?.kind, 'decided');
      const patch = /"patch":"([^"]*)"/.exec(decided.encoded)?.[1] ?? '';
      return /"image":"([^"]*)"/.exec(Buffer.from(patch, 'base64').toString())?.[1] ?? '';
    };
    assert.equal(image(1, withImage('a:1')), 'a:1');
    assert.equal(image(1), 'a:1');
    for (const number of [2, 3, 1, 4, 5]) image(number);
    assert.equal(image(1, withImage('a:2')), 'a:1');
    for (const number of [6, 7, 8, 9]) image(number);
    assert.equal(image(1, withImage('a:2')), 'a:2');
  });

  const defects: [name: string, messages: ToThread[], error: RegExp][] = [
    ['a configuration that cannot be loaded', [review({}, { ...someInjector.files, config: 'policy: [' })], /config/],
    ['surroundings of nothing', [{ kind: 'surroundings', surroundings: {} }], /surroundings of no review/],
  ];
  for (const [name, messages, error] of defects) {
    it(`survives ${name}`, () => {
      const [defect] = thread()(...messages);
      assert.equal(defect?.kind, 'defect');
      assert.match(defect.error, error);
    });
  }
});
