import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../patch/json-value.ts';
import { describePlace } from './place.ts';
import { forbiddenDifference, structuralDifference, type Mode } from './value-places.ts';

const own = new Set(['TEAM', 'OTHER', 'gpu', '--level']);
const withContainer = (members: JsonObject): JsonObject => ({ spec: { containers: [{ name: 'c', ...members }] } });
const placeOf = (left: JsonObject, right: JsonObject, mode: Mode): string | undefined => {
  const { place } = forbiddenDifference(left, right, mode, own);
  return place && describePlace(place);
};

describe('the places that may hold an author’s text', () => {
  const free: [title: string, left: JsonObject, right: JsonObject][] = [
    ['labels', { metadata: { labels: { a: 'x' } } }, { metadata: { labels: { a: 'y' } } }],
    ['annotations', { metadata: { annotations: { a: 'x' } } }, { metadata: { annotations: { a: 'y' } } }],
    [
      'variables',
      withContainer({ env: [{ name: 'TEAM', value: 'x' }] }),
      withContainer({ env: [{ name: 'TEAM', value: 'y' }] }),
    ],
    [
      'requests',
      withContainer({ resources: { requests: { cpu: 1 } } }),
      withContainer({ resources: { requests: { cpu: '2' } } }),
    ],
    [
      'limits',
      withContainer({ resources: { limits: { cpu: 1 } } }),
      withContainer({ resources: { limits: { cpu: '2' } } }),
    ],
    ['ports', withContainer({ ports: [{ containerPort: 1 }] }), withContainer({ ports: [{ containerPort: 2 }] })],
    [
      'probes',
      withContainer({ livenessProbe: { httpGet: { path: '/a' } } }),
      withContainer({ livenessProbe: { httpGet: { path: '/b' } } }),
    ],
    ['values of flags', withContainer({ args: ['--level=x'] }), withContainer({ args: ['--level=y'] })],
  ];
  for (const [title, left, right] of free) {
    it(`${title} may differ`, () => {
      assert.equal(placeOf(left, right, 'text'), undefined);
      assert.equal(placeOf(left, right, 'presence'), undefined);
    });
  }

  const comingAndGoing: [title: string, left: JsonObject, right: JsonObject][] = [
    ['labels', { metadata: { labels: { a: 'x' } }, spec: {} }, { spec: {} }],
    ['a variable', withContainer({ env: [{ name: 'TEAM', value: 'x' }] }), withContainer({ env: null })],
    ['a request', withContainer({ resources: { requests: { cpu: 1 } } }), withContainer({})],
    ['a port', withContainer({ ports: [{ name: 'a', containerPort: 1 }] }), withContainer({ ports: [] })],
    [
      'a probe',
      withContainer({ startupProbe: { httpGet: { port: 80, httpHeaders: [{ name: 'a', value: 'b' }] } } }),
      withContainer({}),
    ],
    ['a flag', withContainer({ args: ['run', '--level=x'] }), withContainer({ args: ['run'] })],
  ];
  for (const [title, left, right] of comingAndGoing) {
    it(`${title} may come and go with a text, but not within it`, () => {
      assert.deepEqual([placeOf(left, right, 'presence'), placeOf(right, left, 'presence')], [undefined, undefined]);
      assert.notEqual(placeOf(left, right, 'text'), undefined);
      assert.notEqual(placeOf(right, left, 'text'), undefined);
    });
  }

  const fixed: [place: string, left: JsonObject, right: JsonObject][] = [
    ['spec', { spec: {} }, {}],
    ['spec', { spec: {} }, { spec: null }],
    ['metadata', { metadata: {}, spec: {} }, { metadata: null, spec: {} }],
    ['metadata.finalizers', { metadata: { finalizers: [] } }, { metadata: {} }],
    ['spec.volumes[v]', { spec: { volumes: [{ name: 'v' }] } }, { spec: {} }],
    [
      'spec.volumes[v].emptyDir',
      { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      { spec: { volumes: [{ name: 'v' }] } },
    ],
    ['spec.containers[c].image', withContainer({ image: 'a' }), withContainer({ image: 'b' })],
    ['spec.containers[c].command', withContainer({ command: ['a'] }), withContainer({ command: ['b'] })],
    [
      'spec.containers[c].securityContext',
      withContainer({ securityContext: null }),
      withContainer({ securityContext: {} }),
    ],
    ['spec.containers[c].securityContext', withContainer({ securityContext: {} }), withContainer({})],
    ['spec.containers[c].env[EVIL]', withContainer({ env: [{ name: 'EVIL', value: 'x' }] }), withContainer({})],
    [
      'spec.containers[c].env[TEAM]',
      withContainer({ env: [{ name: 'TEAM', valueFrom: { fieldRef: {} } }] }),
      withContainer({}),
    ],
    [
      'spec.containers[c].env[TEAM].valueFrom',
      withContainer({ env: [{ name: 'TEAM', valueFrom: { a: 1 } }] }),
      withContainer({ env: [{ name: 'TEAM' }] }),
    ],
    [
      'spec.containers[c].resources.requests.evil',
      withContainer({ resources: { requests: { evil: 1 } } }),
      withContainer({}),
    ],
    ['spec.containers[c].resources.claims', withContainer({ resources: { claims: [1] } }), withContainer({})],
    ['spec.containers[c].ports[a]', withContainer({ ports: [{ name: 'a', hostPort: 1 }] }), withContainer({})],
    [
      'spec.containers[c].ports[a].hostPort',
      withContainer({ ports: [{ name: 'a', hostPort: 1 }] }),
      withContainer({ ports: [{ name: 'a' }] }),
    ],
    [
      'spec.containers[c].livenessProbe.exec',
      withContainer({ livenessProbe: { exec: { command: ['a'] } } }),
      withContainer({}),
    ],
    [
      'spec.containers[c].livenessProbe.httpGet.host',
      withContainer({ livenessProbe: { httpGet: { host: 'a' } } }),
      withContainer({ livenessProbe: { httpGet: {} } }),
    ],
    ['spec.containers[c].args', withContainer({ args: ['-c', 'a'] }), withContainer({ args: ['-c', 'b'] })],
    ['spec.containers[c].args', withContainer({ args: 'a' }), withContainer({})],
    ['spec.containers[c].lifecycle', withContainer({ lifecycle: {} }), withContainer({})],
  ];
  for (const [place, left, right] of fixed) {
    it(`${place} may not differ: ${JSON.stringify(left)}`, () => {
      for (const [one, other] of [
        [left, right],
        [right, left],
      ] as const) {
        const found = placeOf(one, other, 'presence');
        assert.ok(found?.startsWith(place.replace(/\.\w+$/, '')), String(found));
        assert.notEqual(placeOf(one, other, 'text'), undefined);
      }
    });
  }

  it('containers keep their order, and so do variables', () => {
    const containers = (...names: string[]): JsonObject => ({
      spec: { initContainers: names.map((name) => ({ name })) },
    });
    assert.notEqual(placeOf(containers('a', 'b'), containers('b', 'a'), 'presence'), undefined);
    const env = (...names: string[]): JsonObject =>
      withContainer({ env: names.map((name) => ({ name, value: name })) });
    assert.notEqual(placeOf(env('TEAM', 'OTHER'), env('OTHER', 'TEAM'), 'presence'), undefined);
    assert.equal(placeOf(env('TEAM', 'OTHER', 'TEAM'), env('TEAM', 'OTHER'), 'presence'), undefined);
  });

  it('a value that YAML takes for nothing is no text', () => {
    for (const value of ['', null]) {
      const left = withContainer({ env: [{ name: 'TEAM', value }] });
      const right = withContainer({ env: [{ name: 'TEAM', value: 'x_' }] });
      assert.equal(placeOf(left, right, 'text'), 'spec.containers[c].env[TEAM].value');
      assert.equal(placeOf(left, right, 'presence'), undefined);
    }
  });

  it('says whether something with a name has come or gone', () => {
    const namedBy = (left: JsonObject, right: JsonObject): boolean =>
      forbiddenDifference(left, right, 'presence', own).named;
    assert.equal(namedBy(withContainer({ args: ['--level=a'] }), withContainer({ args: ['--level=b'] })), false);
    assert.equal(namedBy(withContainer({ args: ['--level=a'] }), withContainer({})), true);
    assert.equal(namedBy(withContainer({ env: [{ name: 'TEAM' }] }), withContainer({})), true);
    assert.equal(namedBy(withContainer({ resources: { limits: { cpu: 1 } } }), withContainer({})), false);
    assert.equal(namedBy(withContainer({ resources: { limits: { gpu: 1 } } }), withContainer({})), true);
  });

  it('what is allowed may stand in any leaf and nowhere else', () => {
    const image = (text: string): JsonObject => withContainer({ image: text, volumeMounts: [{ name: text }] });
    assert.equal(structuralDifference(image('a'), image('b')).place, undefined);
    assert.notEqual(structuralDifference(image('a'), withContainer({ image: 'a' })).place, undefined);
    assert.notEqual(structuralDifference({ spec: { a: [1] } }, { spec: { a: [1, 2] } }).place, undefined);
  });

  it('any tree is the same as itself, and another leaf outside of the list is seen', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('tree')), fc.dictionary(fc.string(), tie('tree'))),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree), fc.constantFrom<Mode>('presence', 'text'), (part, mode) => {
        const whole: JsonObject = { ...part, spec: { hostname: part } };
        assert.equal(placeOf(whole, structuredClone(whole), mode), undefined);
        assert.notEqual(
          placeOf(whole, { ...whole, spec: { hostname: { ...part, other: 'x', more: 1 } } }, mode),
          undefined,
        );
      }),
    );
  });
});
