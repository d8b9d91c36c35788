import assert from 'node:assert/strict';
import { mostChangedFields } from '../../rollout/shadow-report.ts';
import { changedFields } from './changed-fields.ts';

const version = 'app.kubernetes.io/version';
const pod = {
  metadata: { labels: { app: 'web', [version]: '1' }, annotations: { checksum: 'a' } },
  spec: {
    containers: [
      { name: 'web', image: 'web:1', args: ['--a', '--b'] },
      {
        name: 'proxy',
        image: 'proxy:1',
        env: [{ name: 'A', value: '1' }],
        volumeMounts: [{ name: 'v' }, { name: 'v' }],
      },
    ],
    terminationGracePeriodSeconds: 30,
  },
};
type Change = (copy: typeof pod) => unknown;

describe('changedFields', () => {
  const cases: [what: string, change: Change, fields: string[]][] = [
    ['no field if nothing changed', () => undefined, []],
    ['a number', ({ spec }) => (spec.terminationGracePeriodSeconds = 5), ['spec.terminationGracePeriodSeconds']],
    ['a label with a slash', ({ metadata }) => (metadata.labels[version] = '2'), [`metadata.labels[${version}]`]],
    ['a new type', ({ metadata }) => Object.assign(metadata, { annotations: null }), ['metadata.annotations']],
    ['a container by name', ({ spec }) => spec.containers.unshift({ name: 'new' } as never), ['spec.containers[new]']],
    ['a removed container', ({ spec }) => spec.containers.shift(), ['spec.containers[web]']],
    ['a field of a container', ({ spec }) => (spec.containers[1]!.image = 'proxy:2'), ['spec.containers[proxy].image']],
    ['an env variable', ({ spec }) => (spec.containers[1]?.env?.pop(), undefined), ['spec.containers[proxy].env[A]']],
    ['an argument by index', ({ spec }) => spec.containers[0]?.args?.push('--c'), ['spec.containers[web].args[2]']],
    [
      'an item by index if a name occurs twice',
      ({ spec }) => Object.assign(spec.containers[1]?.volumeMounts?.[1] ?? {}, { readOnly: true }),
      ['spec.containers[proxy].volumeMounts[1].readOnly'],
    ],
    ['a changed order', ({ spec }) => spec.containers.reverse(), ['spec.containers (order)']],
    [
      'several fields, in the order of the pod',
      ({ metadata, spec }) => {
        metadata.labels.app = 'wed';
        spec.terminationGracePeriodSeconds = 1;
      },
      ['metadata.labels.app', 'spec.terminationGracePeriodSeconds'],
    ],
  ];
  for (const [what, change, fields] of cases) {
    it(`reports ${what}`, () => {
      const copy = structuredClone(pod);
      change(copy);
      assert.deepEqual(changedFields(pod, copy), fields);
    });
  }

  it('reports at most twenty fields, with bounded names', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}`.padEnd(300, 'x'), index]));
    const fields = changedFields({}, many);
    assert.equal(fields.length, mostChangedFields);
    assert.ok(fields.every((field) => field.length === 160));
  });

  it('does not descend deeper than 24 levels', () => {
    const nested = (levels: number, end: string): unknown => (levels === 0 ? end : { a: nested(levels - 1, end) });
    const [field] = changedFields(nested(5000, 'x'), nested(5000, 'y'));
    assert.equal(field, Array.from({ length: 24 }, () => 'a').join('.'));
  });
});
