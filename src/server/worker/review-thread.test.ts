import assert from 'node:assert/strict';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { Surroundings } from '../admission/inject-handler.ts';
import { reviewOf, bytesOf } from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';
import { type FromThread, ReviewThread, type ToThread, type WorkerAnswer } from './review-thread.ts';

interface Input {
  readonly request?: Record<string, unknown>;
  readonly files?: ConfigurationFiles;
  readonly number?: number;
  readonly surroundings?: Surroundings;
}

/** Returns a function that sends reviews to one thread. */
function thread(): (input?: Input) => { answer: WorkerAnswer; read: FromThread[] } {
  const reviewThread = new ReviewThread();
  return ({ request, files = someInjector.files, number = 1, surroundings = {} } = {}) => {
    const target = { name: 'default', hash: '0a1b2c3d', path: '/inject', annotate: true, number, files };
    const body = new Uint8Array(bytesOf(reviewOf(request)));
    const message: ToThread = structuredClone({ body, maxDepth: 50, target, surroundings });
    const read: FromThread[] = [];
    const answer = structuredClone(reviewThread.answer(message, (review) => read.push(structuredClone(review))));
    return { answer, read };
  };
}

/** Returns the match of a pattern in the patch of an injected pod. */
function inPatch({ answer }: { answer: WorkerAnswer }, pattern: RegExp): string {
  assert.ok(answer.kind === 'decided');
  const patch = /"patch":"([^"]*)"/.exec(answer.encoded)?.[1] ?? '';
  return pattern.exec(Buffer.from(patch, 'base64').toString())?.[1] ?? '';
}

describe('ReviewThread', () => {
  it('reports the decoded review, and decides it', () => {
    const { answer, read } = thread()();
    const [decoded] = read;
    assert.ok(read.length === 1 && decoded?.kind === 'decoded');
    assert.equal(decoded.version, 'admission.k8s.io/v1');
    const { uid, namespace, name, object } = decoded.request;
    assert.deepEqual([uid, namespace, name, object], ['uid-1', 'shop', 'web-6d4f-', null]);
    assert.ok(answer.kind === 'decided');
    assert.equal(answer.decision.outcome, 'injected');
    assert.deepEqual(answer.decision.patch, []);
    assert.match(answer.encoded, /^"allowed":true,"patch":"[\w+/=]+","patchType":"JSONPatch"/);
  });

  it('reports a malformed review', () => {
    const { answer, read } = thread()({ request: { operation: 'MAKE' } });
    assert.ok(answer.kind === 'malformed');
    assert.match(answer.review.problem, /^request\.operation must be one of/);
    assert.equal(answer.review.uid, 'uid-1');
    assert.deepEqual(read, []);
  });

  it('keeps the surroundings of earlier messages, even if their reviews were malformed', () => {
    const config = [
      'policy: enabled',
      'templates:',
      '  sidecar: |',
      '    metadata: {annotations: {native: "{{ .NativeSidecars }}"}}',
    ].join('\n');
    const files = { ...someInjector.files, config, settings: JSON.stringify({ nativeSidecars: 'Auto' }) };
    const ask = thread();
    const native = (surroundings: Surroundings): string => inPatch(ask({ files, surroundings }), /"native":"(\w+)"/);
    const nodes = (minor: number) => ({ nodes: [{ name: 'n', kubeletVersion: `v1.${minor}.0` }] });
    assert.equal(native({}), 'false');
    assert.equal(native(nodes(33)), 'true');
    assert.equal(native({}), 'true');
    ask({ request: { operation: 'MAKE' }, surroundings: nodes(20) });
    assert.equal(native({}), 'false');
  });

  it('identifies a configuration by its number, and caches the last four', () => {
    const ask = thread();
    const { files: own } = someInjector;
    const withImage = (image: string) => ({ ...own, config: own.config.replace('hello:1', image) });
    const image = (number: number, files = someInjector.files): string =>
      inPatch(ask({ files, number }), /"image":"([^"]*)"/);
    assert.equal(image(1, withImage('a:1')), 'a:1');
    assert.equal(image(1), 'a:1');
    for (const number of [2, 3, 1, 4, 5]) image(number);
    assert.equal(image(1, withImage('a:2')), 'a:1');
    for (const number of [6, 7, 8, 9]) image(number);
    assert.equal(image(1, withImage('a:2')), 'a:2');
  });

  it('survives a configuration that cannot be loaded', () => {
    const { answer } = thread()({ files: { ...someInjector.files, config: 'policy: [' } });
    assert.ok(answer.kind === 'defect');
    assert.match(answer.error, /config/);
  });
});
