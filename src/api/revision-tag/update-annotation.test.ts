import assert from 'node:assert/strict';
import { formatPodUpdate, parsePodUpdate } from './update-annotation.ts';

const at = Date.UTC(2026, 0, 1);
const update = { tag: 'prod', target: 'new.00000002', at };
const before = {
  images: { 'initContainers/istio-proxy': 'proxy:1' },
  restarts: { 'initContainers/istio-proxy': 2 },
  labels: { added: null },
  annotations: { changed: 'a' },
};

describe('the annotation of an update', () => {
  it('keeps the update, and what the pod was before', () => {
    assert.deepEqual(parsePodUpdate(formatPodUpdate(update, before)), { ...update, before });
    assert.deepEqual(parsePodUpdate(formatPodUpdate({ ...update, failed: 'x' })), { ...update, failed: 'x' });
  });

  it('is bounded', () => {
    const { failed } = parsePodUpdate(formatPodUpdate({ ...update, failed: 'x'.repeat(1000) })) ?? {};
    assert.equal(failed?.length, 512);
    assert.equal(parsePodUpdate(formatPodUpdate({ ...update, tag: 'x'.repeat(1000) }))?.tag.length, 127);
  });

  for (const text of [undefined, '', 'null', '{}', '[]', '{"tag":"a","target":"b","at":"never"}', '{"tag":1}']) {
    it(`is ignored if its text is ${String(text)}`, () => {
      assert.equal(parsePodUpdate(text), undefined);
    });
  }

  for (const [title, wrong] of [
    ['an image that is no text', { ...before, images: { a: 1 } }],
    ['a missing map', { ...before, labels: undefined }],
    ['a text', 'x'],
  ] as const) {
    it(`drops what the pod was before if it is ${title}`, () => {
      const text = JSON.stringify({ ...JSON.parse(formatPodUpdate(update)), before: wrong });
      assert.deepEqual(parsePodUpdate(text), update);
    });
  }
});
