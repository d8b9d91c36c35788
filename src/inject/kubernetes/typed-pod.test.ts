import assert from 'node:assert/strict';
import { deepFreeze, readRows } from '../merge/testdata/read-rows.ts';
import { podStruct, podType } from './pod-schema.ts';
import { PodTypeError } from './pod-type-error.ts';
import { normalisePod, type CanonicalItems } from './typed-pod.ts';
import { canonicalTimestamp } from './custom-types.ts';

/** A pod with its encoding by Go's corev1.Pod, or with Go's error. */
interface PodRow {
  i: unknown;
  o?: unknown;
  e?: string;
}

const rows = readRows<PodRow>(new URL('testdata/pods.jsonl.gz', import.meta.url));
/** The common part of our timestamp errors and Go's more detailed errors. */
const TIMESTAMP = /^parsing time "[^"]*" as "2006-01-02T15:04:05Z07:00": /;

describe('normalisePod', () => {
  describe(`agrees with Go (${rows.length} recorded pods)`, () => {
    it('on the result, without changing the argument', () => {
      const decoded = rows.filter(({ e }) => e === undefined);
      assert.ok(decoded.length > 2000, `${decoded.length} rows`);
      for (const { i, o } of decoded) assert.deepEqual(normalisePod(deepFreeze(i)), o, JSON.stringify(i));
    });

    it('and returns a canonical pod itself', () => {
      for (const { o } of rows.filter(({ e }) => e === undefined)) assert.equal(normalisePod(o), o);
    });

    it('on the error', () => {
      const refused = rows.filter(({ e }) => e !== undefined);
      assert.ok(refused.length > 300, `${refused.length} rows`);
      for (const { i, e = '' } of refused) {
        const [timestamp] = TIMESTAMP.exec(e) ?? [];
        const expected = (error: unknown): boolean =>
          error instanceof PodTypeError &&
          (timestamp === undefined ? error.message === e : error.message.startsWith(timestamp));
        assert.throws(() => normalisePod(deepFreeze(i)), expected, `${e}: ${JSON.stringify(i)}`);
      }
    });
  });

  it('copies only the path to a change', () => {
    const pod = {
      metadata: { labels: { a: 'b' } },
      spec: {
        containers: [
          { name: 'a', resources: {} },
          { name: 'b', resources: { limits: { cpu: '1000m' } } },
        ],
      },
      status: {},
    };
    const normal = normalisePod(pod) as typeof pod;
    assert.deepEqual(normal.spec.containers[1]?.resources, { limits: { cpu: '1' } });
    assert.equal(normal.spec.containers[0], pod.spec.containers[0]);
    assert.equal(normal.metadata, pod.metadata);
  });

  it('uses the last of two spellings of a name', () => {
    const container = { tty: true, image: 'a', resources: {}, TTY: false, Image: 'b', name: 'c' };
    assert.deepEqual(normalisePod(container, podStruct('v1.Container')), { image: 'b', resources: {}, name: 'c' });
  });

  it('returns the same result for any known pod', () => {
    const pods = rows.filter(({ o }) => o !== undefined);
    for (const [index, { i, o }] of pods.entries()) {
      const known = normalisePod(o);
      const other = normalisePod(pods[(index + 1) % pods.length]?.o);
      const merged = { ...(i as object), spec: known.spec, metadata: known.metadata };
      const items: CanonicalItems = new Map();
      for (const [pod, canonical] of [
        [i, known],
        [i, other],
        [merged, known],
        [{ ...other, spec: known.spec }, other],
      ] as const) {
        const expected = normalisePod(structuredClone(pod));
        assert.deepEqual(normalisePod(pod, podType, canonical), expected);
        assert.deepEqual(normalisePod(pod, podType, canonical, items), expected);
        assert.deepEqual(normalisePod(pod, podType, undefined, items), expected);
      }
    }
  });

  it('shares known list items in any order, but not across types', () => {
    const containers = [{ name: 'a', tty: false }, { name: 'b' }, { name: 'c' }];
    const known = normalisePod({ spec: { containers } });
    const list = (known as { spec: { containers: unknown[] } }).spec.containers;
    const items: CanonicalItems = new Map();
    const spec = { containers: [list[2], { name: 'd', stdin: false }, list[0], list[1], 7], volumes: [list[0]] };
    assert.throws(() => normalisePod({ spec }, podType, known, items), { field: 'spec.containers' });
    const again = normalisePod({ spec: { containers: spec.containers.slice(0, 4) } }, podType, known, items);
    const result = (again as { spec: { containers: unknown[] } }).spec.containers;
    assert.deepEqual(result[1], { name: 'd', resources: {} });
    assert.ok([result[0] === list[2], result[2] === list[0], result[3] === list[1]].every(Boolean));
    const volume = normalisePod({ spec: { containers: [], volumes: [list[0]] } }, podType, undefined, items);
    assert.deepEqual((volume as { spec: { volumes: unknown } }).spec.volumes, [{ name: 'a' }]);
  });

  it('names the field of an error', () => {
    const withContainer = (fields: object): object => ({ spec: { containers: [{ name: 'a', ...fields }] } });
    const cases: [pod: unknown, field: string][] = [
      ['text', ''],
      [withContainer({ ports: [{ containerPort: '80' }] }), 'spec.containers.ports.containerPort'],
      [withContainer({ resources: { limits: { cpu: 'many' } } }), 'spec.containers.resources.limits.cpu'],
      [{ metadata: { creationTimestamp: 'now' } }, 'metadata.creationTimestamp'],
    ];
    for (const [pod, field] of cases) {
      const isOfField = (error: unknown) => error instanceof PodTypeError && error.field === field;
      assert.throws(() => normalisePod(pod), isOfField);
    }
  });
});

describe('podStruct', () => {
  it('rejects an unknown struct', () => {
    assert.throws(() => podStruct('v1.Deployment'), /no struct v1\.Deployment/);
  });

  it('records the embedded struct of a field', () => {
    const port = podStruct('v1.Probe').byName.get('httpGet');
    assert.deepEqual([port?.goName, port?.embeddedIn, port?.pointer], ['HTTPGet', ['ProbeHandler'], true]);
  });
});

describe('canonicalTimestamp', () => {
  const cases: [text: string, canonical: string | null | undefined][] = [
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.999Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T3:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-01T01:04:05+02:30', '2025-12-31T22:34:05Z'],
    ['2026-01-01T23:04:05-01:00', '2026-01-02T00:04:05Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['0001-01-01T00:00:00Z', null],
    ['0001-01-01T01:00:00+01:00', null],
    ['2026-02-29T00:00:00Z', undefined],
    ['2026-13-01T00:00:00Z', undefined],
    ['2026-01-01T24:00:00Z', undefined],
    ['2026-01-01T00:60:00Z', undefined],
    ['2026-01-01T00:00:00+25:00', undefined],
    ['2026-01-01T00:00:00', undefined],
    ['2026-01-01', undefined],
    ['now', undefined],
  ];
  for (const [text, canonical] of cases) {
    it(`converts ${text} to ${canonical}`, () => {
      assert.equal(canonicalTimestamp(text), canonical);
    });
  }
});
